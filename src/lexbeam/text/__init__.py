"""Text and tokens: vocabularies, spelling, words, case, sentences, inflection."""
