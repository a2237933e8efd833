"""Translate a corpus: in several processes, on many machines, again after a crash.

``lexbeam corpus`` cuts its inputs into shards and writes one part for each (`run`). `Batches` is
for those whose data is in Ray, Hugging Face ``datasets`` or Spark already. See ``docs/scale.md``.
"""
