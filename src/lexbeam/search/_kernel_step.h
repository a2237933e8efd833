/* The arithmetic of a search step, compiled: automaton, candidates, costs, selection, pruning.

Every function here does what a few dozen calls of NumPy do on arrays of fifty numbers; the NumPy
code beside the caller is the definition, and the tests hold both equal. Nothing is kept between
calls but the tables of an automaton. What Python calls is in `_kernel.c`. */

#ifndef LEXBEAM_KERNEL_STEP
#define LEXBEAM_KERNEL_STEP

#include "../_compiled_arrays.h"

/* --- the tables of an automaton -------------------------------------------------------------- */

enum {
    SYMBOL, FROM_ROOT, ROW_OF_NODE, MOVE_SYMBOLS, MOVE_TARGETS, LISTED_KEYS, LISTED_TARGETS,
    ASK_ROWS, ASK_TOKENS, ASK_TARGETS, SERVES,
    NOW_SETS, NOW_REPEATS, NOW_NEEDS, NOW_WEIGHT,
    LATER_SETS, LATER_REPEATS, LATER_NEEDS, LATER_WEIGHT,
    BEGUN_GAIN, BEGUN_BITS, BEGUN_NEEDS, BOUNDARY,
    STARTING, MOVING, STAYING, ALIVE, NOT_AT_END, OTHERS, /* patterns: `automaton.multipart` */
    FIRST_STAGE, STAGE_REACHED, STAGE_ENABLED, STAGE_WANTED, STAGE_SIZES, TABLES
};

typedef struct {
    Buffers buffers;
    Array table[TABLES];
    Py_ssize_t words; /* how many numbers a set of bits takes, side by side */
    Py_ssize_t symbols, nodes, moves, asked, now, later, begun, stages;
} Tables;

#define MOST_WORDS 32
#define SET(t, name, at) (BITS((t)->table[name]) + (at) * words) /* where `words` are known */

/* Functions of sets of bits are compiled twice, for one word and for several: nearly all sentences
   have one, and then no set is a loop. */
#if defined(_MSC_VER)
#define INLINED static __forceinline
#else
#define INLINED static inline __attribute__((always_inline))
#endif

/* Whether two sets of bits share a member. */
INLINED int share(const uint64_t *a, const uint64_t *b, Py_ssize_t words) {
    uint64_t common = a[0] & b[0];
    for (Py_ssize_t i = 1; i < words; i++) common |= a[i] & b[i];
    return common != 0;
}

INLINED int is_empty(const uint64_t *set, Py_ssize_t words) {
    uint64_t any = set[0];
    for (Py_ssize_t i = 1; i < words; i++) any |= set[i];
    return !any;
}

/* Whether a set is empty or shares a member with another: one of what is needed is there. */
INLINED int is_allowed(const uint64_t *needs, const uint64_t *there, Py_ssize_t words) {
    return share(needs, there, words) || is_empty(needs, words);
}

/* The node that a token leads to. */
static int64_t follow(const Tables *t, int64_t node, int64_t token) {
    int64_t symbol = INTS(t->table[SYMBOL])[token], sought = node * t->symbols + symbol;
    const int64_t *symbols = INTS(t->table[MOVE_SYMBOLS]) + node * t->moves;
    const int64_t *keys = INTS(t->table[LISTED_KEYS]);
    for (Py_ssize_t move = 0; move < t->moves; move++)
        if (symbols[move] == symbol) return INTS(t->table[MOVE_TARGETS])[node * t->moves + move];
    Py_ssize_t low = 0, high = t->table[LISTED_KEYS].length;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (keys[middle] < sought) low = middle + 1;
        else high = middle;
    }
    if (low < t->table[LISTED_KEYS].length && keys[low] == sought)
        return INTS(t->table[LISTED_TARGETS])[low];
    return INTS(t->table[FROM_ROOT])[INTS(t->table[ROW_OF_NODE])[node] + symbol];
}

/* Mark what ends at a node as met, each occurrence once; `first` is the first of four tables. */
INLINED void complete(const Tables *t, Py_ssize_t words, int first, Py_ssize_t layers,
                      int64_t node, uint64_t *met, int64_t *tokens) {
    for (Py_ssize_t at = node; at < layers * t->nodes; at += t->nodes) {
        const uint64_t *sets = SET(t, first, at), *repeats = SET(t, first + 1, at);
        if (!is_allowed(SET(t, first + 2, at), met, words)) continue;
        uint64_t any = 0;
        for (Py_ssize_t i = words; i-- > 0;) { /* from the top: what is repeated moves up */
            uint64_t repeated = ((met[i] << 1) | (i ? met[i - 1] >> 63 : 0)) & repeats[i];
            uint64_t added = (sets[i] | repeated) & ~met[i];
            met[i] |= added;
            any |= added;
        }
        if (any) *tokens += INTS(t->table[first + 3])[at];
    }
}

/* The tokens of the longest beginning of something unmet. */
INLINED int64_t in_progress(const Tables *t, Py_ssize_t words, int64_t node, const uint64_t *seen,
                            const uint64_t *unmet) {
    int64_t most = 0;
    for (Py_ssize_t at = node; at < t->begun * t->nodes; at += t->nodes) {
        if (!share(SET(t, BEGUN_BITS, at), unmet, words)) continue;
        if (!is_allowed(SET(t, BEGUN_NEEDS, at), seen, words)) continue;
        int64_t gain = INTS(t->table[BEGUN_GAIN])[at];
        if (gain > most) most = gain;
    }
    return most;
}

/* Count the tokens of stages that have been reached; write the bits of what is of use now. */
INLINED void count_stages(const Tables *t, Py_ssize_t words, int64_t node, const uint64_t *seen,
                          uint64_t *of_use, int64_t *tokens) {
    Py_ssize_t first = INTS(t->table[FIRST_STAGE])[node];
    for (Py_ssize_t i = 0; i < words; i++) of_use[i] = SET(t, OTHERS, node)[i];
    for (Py_ssize_t at = first; at < first + t->stages; at++) {
        if (share(SET(t, STAGE_REACHED, at), seen, words)) {
            *tokens += INTS(t->table[STAGE_SIZES])[at];
        } else if (is_allowed(SET(t, STAGE_ENABLED, at), seen, words)) {
            for (Py_ssize_t i = 0; i < words; i++) of_use[i] |= SET(t, STAGE_WANTED, at)[i];
        }
    }
}

/* What a hypothesis has met, and seen. */
typedef struct { const uint64_t *met, *seen; int64_t met_tokens, seen_tokens; } State;

/* What `take_token` writes, in columns: the node; what is met, its tokens; what is seen, its
   tokens; the bank; what is of use. Each set of bits takes as many columns as words. */
#define COLUMNS(words) (4 + 3 * (words))
#define SEEN_COLUMN(words) (2 + (words))
#define BANK_COLUMN(words) (3 + 2 * (words))

/* What is met before anything ends at the node: what had to be the end is taken back, and
   registers grow older. */
INLINED void grow_older(const Tables *t, Py_ssize_t words, int64_t token, int64_t node, int unwinds,
                        uint64_t *met) {
    Py_ssize_t at = node + (FLAGS(t->table[STARTING])[token] ? t->nodes : 0);
    for (Py_ssize_t i = 0; i < words; i++) {
        uint64_t bits = unwinds ? met[i] & SET(t, NOT_AT_END, node)[i] : met[i];
        met[i] = ((bits & SET(t, MOVING, at)[i]) << 1) | (bits & SET(t, STAYING, at)[i]);
    }
}

/* Take a token that leads to a node: write the new state, as in `States`, every `stride` entries. */
INLINED void take_token(const Tables *t, Py_ssize_t words, State from, int64_t token, int64_t node,
                        int is_end, int64_t *out, Py_ssize_t stride) {
    int word_ended = !t->table[BOUNDARY].length || FLAGS(t->table[BOUNDARY])[token];
    uint64_t met[MOST_WORDS], seen[MOST_WORDS], of_use[MOST_WORDS], unmet[MOST_WORDS];
    int64_t met_tokens = word_ended ? from.seen_tokens : from.met_tokens, seen_tokens, bank;
    for (Py_ssize_t i = 0; i < words; i++) met[i] = word_ended ? from.seen[i] : from.met[i];
    if (t->stages) grow_older(t, words, token, node, word_ended && !is_end, met);
    complete(t, words, NOW_SETS, t->now, node, met, &met_tokens);
    for (Py_ssize_t i = 0; i < words; i++) {
        seen[i] = met[i];
        of_use[i] = ~(uint64_t)0;
    }
    seen_tokens = met_tokens;
    complete(t, words, LATER_SETS, t->later, node, seen, &seen_tokens);
    bank = seen_tokens;
    if (t->stages) {
        for (Py_ssize_t i = 0; i < words; i++) {
            met[i] &= SET(t, ALIVE, node)[i];
            seen[i] &= SET(t, ALIVE, node)[i];
        }
        count_stages(t, words, node, seen, of_use, &bank);
    }
    for (Py_ssize_t i = 0; i < words; i++) {
        unmet[i] = of_use[i] & ~seen[i];
        out[(1 + i) * stride] = (int64_t)met[i];
        out[(SEEN_COLUMN(words) + i) * stride] = (int64_t)seen[i];
        out[(BANK_COLUMN(words) + 1 + i) * stride] = (int64_t)of_use[i];
    }
    out[0] = node;
    out[(1 + words) * stride] = met_tokens;
    out[(SEEN_COLUMN(words) + words) * stride] = seen_tokens;
    out[BANK_COLUMN(words) * stride] = bank + in_progress(t, words, node, seen, unmet);
}

/* --- what a step is given -------------------------------------------------------------------- */

/* The arrays of a step, in the order of its arguments; what is not needed is None. */
enum {
    LOG_PROB, SCORE, LIVE, FINISHED, FIRST, /* the hypotheses; what the search offers itself */
    TOP_SCORES, TOP_IDS, ASK_SCORES,        /* the model's answer */
    NODE, MET, MET_TOKENS, SEEN, SEEN_TOKENS, BANK, STAGES, /* where hypotheses stand */
    SIZES, MAY_END, BEAMS, /* constraint tokens; what may end, if not by those; beams, if not k */
    ASKED, TARGETS, SLOTS, /* what was asked, where it leads; slots of banks before adjustment */
    SUMS, COUNTS, KINDS, EXPECTED, PRICES, DRAFTS, /* what `search.future_cost` has learnt */
    REACHED, PART_SIZES, HERE, MISSING, WANTED, NEEDS, AT_END, SOFT, PENALTIES, /* parts */
    OUT_INTS, OUT_STATES, OUT_SCORES, OUT_FLAGS,   /* what is written: see `advance` */
    STEP_ARRAYS
};
static const char KINDS_OF_ARRAYS[] = "ddbbi" "sis" "iiiiiii" "ibi" "iii" "DDiddi" "idiiiibid" "IIDB";

static const char OPTIONAL_ARRAYS[] = {
    BANK, STAGES, SIZES, MAY_END, BEAMS, SLOTS, PRICES, NEEDS, AT_END, SOFT, PENALTIES,
};

/* Those of sets of bits. */
static const char ARRAYS_OF_BITS[] = {MET, SEEN, STAGES, REACHED, WANTED, NEEDS};

/* What arrays have an entry for. */
enum { NONE, SENTENCE, SLOT, ROW, TOP, ANSWER, ASK, MEAN, PART, AT_NODE, BEGUN, DIMENSIONS };
static const unsigned char DIMENSION_OF_ARRAYS[] = {
    SLOT, SLOT, SLOT, SLOT, SENTENCE, TOP, TOP, ANSWER,
    SLOT, SLOT, SLOT, SLOT, SLOT, SLOT, SLOT,
    SENTENCE, ROW, SENTENCE, ASK, ASK, SENTENCE,
    MEAN, MEAN, AT_NODE, SENTENCE, PART, SENTENCE,
    PART, PART, BEGUN, BEGUN, BEGUN, BEGUN, PART, PART, NONE, NONE, NONE, NONE, NONE,
};

/* Numbers that a step is given in one array. */
enum {
    K, FLAGS_OF_STEP, EOS, VOCABULARY, LOWEST, ROUNDING, LENGTH, LAG, HANDICAP,
    LOWEST_LEARNT, WEIGHT, CONTINUES, AT_THE_START, STEP, NUMBERS
};
/* Ends of words are candidates; all candidates are kept; what lags is dropped; by its worth. */
enum { WORD_ENDS = 1, KEEP_ALL = 2, DROP = 4, BY_WORTH = 8 };

/* An option of a slot: 0 is the end, a forced token, or to stay finished; others are the best. */
typedef struct { double score; Py_ssize_t slot, option; } Option;
typedef struct { double score; int64_t slot, token, node; } Candidate;

/* A part of a constraint of one sentence (`automaton.parts`): its bits, what all of it costs, and
   whose it is. */
typedef struct { const uint64_t *reached; double whole; int64_t soft; int at_end; } Part;

/* Everything that a step reads, its room, and what it writes. */
typedef struct {
    const Tables *t; /* NULL: plain search */
    Array a[STEP_ARRAYS];
    const double *number;
    Py_ssize_t sentences, slots, rows, top, answers, asked, stride, parts, begun, k, flags;
    int64_t *row; /* the model's row of each slot */
    Option *best;
    unsigned char *among; /* which options of a sentence are among the k best */
    Candidate *found;
    Py_ssize_t *ends, *filled, *chosen; /* candidates: where a sentence's end; which are chosen */
    int64_t *states; /* columns of all candidates, as `branch` writes them */
    Part *own; /* the parts that one sentence has */
    double *worth, *compared, *unit, *after, *learnt, *whole, *costs, *by_soft;
} Step;

#define INT(x, name, at) INTS((x)->a[name])[at]
#define BITS_AT(x, name, at) (BITS((x)->a[name]) + (at) * words) /* where `words` are known */
#define DOUBLE(x, name, at) DOUBLES((x)->a[name])[at]
#define FLAG(x, name, at) FLAGS((x)->a[name])[at]

/* --- candidates ------------------------------------------------------------------------------ */

/* What the model answered for an asked token of a row; 0 is the end. */
static double answer_at(const Step *x, int64_t row, Py_ssize_t asked) {
    double score = score_at(&x->a[ASK_SCORES], row * x->answers + asked);
    return score > x->number[LOWEST] ? score : x->number[LOWEST];
}

static int may_end(const Step *x, Py_ssize_t slot) {
    if (x->a[MAY_END].data) return FLAG(x, MAY_END, x->row[slot]);
    return !x->a[SIZES].data || INT(x, BANK, slot) == INT(x, SIZES, slot / x->slots);
}

static double option_score(const Step *x, Py_ssize_t slot, Py_ssize_t option) {
    if (!FLAG(x, LIVE, slot))
        return option == 0 && FLAG(x, FINISHED, slot) ? DOUBLE(x, SCORE, slot) : CLOSED;
    double so_far = DOUBLE(x, LOG_PROB, slot);
    if (option) return so_far + score_at(&x->a[TOP_SCORES], x->row[slot] * x->top + option - 1);
    return may_end(x, slot) ? so_far + answer_at(x, x->row[slot], 0) : CLOSED;
}

static int64_t option_token(const Step *x, Py_ssize_t slot, Py_ssize_t option) {
    if (option == 0) return INT(x, FIRST, slot / x->slots);
    return INT(x, TOP_IDS, x->row[slot] * x->top + option - 1);
}

/* Whether the best tokens of each row come in order: what the search has charged may not. */
static int are_in_order(const Step *x) { return !(x->flags & KEEP_ALL); }

/* Write the k best options of a sentence, best first, of equals the first; return how many. */
static Py_ssize_t k_best(const Step *x, Py_ssize_t sentence) {
    Py_ssize_t count = 0, k = x->a[BEAMS].data ? (Py_ssize_t)INT(x, BEAMS, sentence) : x->k;
    int in_order = are_in_order(x);
    Option *best = x->best;
    for (Py_ssize_t slot = sentence * x->slots; slot < (sentence + 1) * x->slots; slot++) {
        Py_ssize_t options = FLAG(x, LIVE, slot) ? 1 + x->top : FLAG(x, FINISHED, slot) != 0;
        for (Py_ssize_t option = 0; option < options; option++) {
            double score = option_score(x, slot, option);
            if (score == CLOSED || (count == k && !(score > best[k - 1].score))) {
                if (in_order && option) break; /* the others are no better */
                continue;
            }
            Py_ssize_t at = count < k ? count++ : k - 1;
            for (; at > 0 && best[at - 1].score < score; at--) best[at] = best[at - 1];
            best[at] = (Option){score, slot, option};
        }
    }
    return count;
}

/* The best option of a slot, of those that end a word if `ending`; of equals the first. */
static Option best_of_slot(const Step *x, Py_ssize_t slot, int ending) {
    Option best = {CLOSED, slot, 0};
    int in_order = are_in_order(x);
    for (Py_ssize_t option = 0; option < (FLAG(x, LIVE, slot) ? 1 + x->top : 1); option++) {
        double score = option_score(x, slot, option);
        if (!(score > best.score)) {
            if (in_order && option) break; /* the others are no better */
            continue;
        }
        if (ending && !FLAGS(x->t->table[BOUNDARY])[option_token(x, slot, option)]) continue;
        best.score = score;
        best.option = option;
    }
    return best;
}

/* Whether a node starts or continues something that a slot has not met. */
static int serves(const Step *x, int64_t node, Py_ssize_t slot) {
    Py_ssize_t words = x->t->words;
    const uint64_t *serves = SET(x->t, SERVES, node), *seen = BITS_AT(x, SEEN, slot);
    const uint64_t *stages = x->a[STAGES].data ? BITS_AT(x, STAGES, slot) : NULL;
    uint64_t common = 0;
    for (Py_ssize_t i = 0; i < words; i++)
        common |= serves[i] & ~seen[i] & (stages ? stages[i] : ~(uint64_t)0);
    return common != 0;
}

/* Add an option, unless it has been, or goes on with an unmet phrase: then it was asked for. */
static void add_option(const Step *x, Option one, Candidate *found, Py_ssize_t *count) {
    Py_ssize_t at = one.slot % x->slots * (1 + x->top) + one.option;
    if (one.score == CLOSED || x->among[at]) return;
    x->among[at] = 1;
    int64_t token = option_token(x, one.slot, one.option), node = 0;
    if (x->t) {
        node = follow(x->t, INT(x, NODE, one.slot), token);
        if (x->asked && one.option && serves(x, node, one.slot)) return;
    }
    found[(*count)++] = (Candidate){one.score, one.slot, token, node};
}

/* Write the candidates of a sentence (paper, Algorithm 2, lines 2 to 10); return how many. Those
   of plain search are the k best. */
static Py_ssize_t collect(const Step *x, Py_ssize_t sentence, Candidate *found) {
    Py_ssize_t count = 0, first = sentence * x->slots, end = first + x->slots;
    Py_ssize_t best = k_best(x, sentence);
    int word_ends = x->t && (x->flags & WORD_ENDS) && x->t->table[BOUNDARY].length;
    memset(x->among, 0, x->slots * (1 + x->top));
    for (Py_ssize_t rank = 0; rank < best; rank++) add_option(x, x->best[rank], found, &count);
    if (!x->t) return count;
    for (Py_ssize_t slot = first; slot < end; slot++)
        add_option(x, best_of_slot(x, slot, 0), found, &count);
    for (Py_ssize_t slot = first; slot < end && word_ends; slot++)
        if (INT(x, SEEN_TOKENS, slot) > INT(x, MET_TOKENS, slot))
            add_option(x, best_of_slot(x, slot, 1), found, &count);
    for (Py_ssize_t slot = first; slot < end; slot++) {
        if (!FLAG(x, LIVE, slot)) continue;
        for (Py_ssize_t i = 0, row = x->row[slot]; i < x->asked; i++) {
            int64_t token = INT(x, ASKED, (row + 1) * x->stride - x->asked + i);
            double score = DOUBLE(x, LOG_PROB, slot) + answer_at(x, row, 1 + i);
            if (token == PAD || score == CLOSED) continue;
            found[count++] = (Candidate){score, slot, token, INT(x, TARGETS, row * x->asked + i)};
        }
    }
    return count;
}

/* Let a candidate take its token: write its state, every `stride` entries. */
INLINED void branch(const Step *x, Py_ssize_t words, const Candidate *c, int64_t *out,
                    Py_ssize_t stride) {
    State from = {BITS_AT(x, MET, c->slot), BITS_AT(x, SEEN, c->slot),
                  INT(x, MET_TOKENS, c->slot), INT(x, SEEN_TOKENS, c->slot)};
    take_token(x->t, words, from, c->token, c->node, c->token == x->number[EOS], out, stride);
}

/* --- what constraints are going to cost ------------------------------------------------------ */

/* Learn from what the model answered for asked tokens. */
static void learn(const Step *x) {
    double *counts = x->learnt + 2 * x->sentences;
    memset(x->learnt, 0, 4 * x->sentences * sizeof *x->learnt);
    for (Py_ssize_t slot = 0; slot < x->sentences * x->slots; slot++) {
        for (Py_ssize_t i = 0, row = x->row[slot]; i < x->asked && FLAG(x, LIVE, slot); i++) {
            if (INT(x, ASKED, (row + 1) * x->stride - x->asked + i) == PAD) continue;
            double score = answer_at(x, row, 1 + i), lowest = x->number[LOWEST_LEARNT];
            int64_t kind = INT(x, KINDS, INT(x, TARGETS, row * x->asked + i));
            kind += 2 * (slot / x->slots);
            x->learnt[kind] += score > lowest ? score : lowest;
            counts[kind] += 1.0;
        }
    }
    for (Py_ssize_t i = 0; i < 2 * x->sentences; i++) {
        DOUBLE(x, SUMS, i) += x->learnt[i];
        DOUBLE(x, COUNTS, i) += counts[i];
    }
}

/* Find what each part is expected to cost. */
static void expect_costs(const Step *x) {
    const double *number = x->number;
    for (Py_ssize_t s = 0; s < x->sentences; s++) {
        double count = DOUBLE(x, COUNTS, 2 * s), later = DOUBLE(x, COUNTS, 2 * s + 1);
        double mean = DOUBLE(x, SUMS, 2 * s) / (count > 1.0 ? count : 1.0);
        double after = DOUBLE(x, SUMS, 2 * s + 1) + number[CONTINUES] * mean;
        double progress = (number[STEP] + 1.0) / DOUBLE(x, EXPECTED, s);
        double rising = (1.0 - number[AT_THE_START]) * (progress < 1.0 ? progress : 1.0);
        int priced = x->a[PRICES].data && INT(x, DRAFTS, s) > 0;
        x->unit[s] = -mean > 1.0 ? -mean : 1.0;
        x->after[s] = after /= later + number[WEIGHT];
        for (Py_ssize_t at = s; at < x->parts * x->sentences; at += x->sentences) {
            double first = priced ? DOUBLE(x, PRICES, at) : mean * (number[AT_THE_START] + rising);
            x->whole[at] = first + after * (DOUBLE(x, PART_SIZES, at) - 1.0);
        }
    }
}

/* List the parts that a sentence has, side by side; return how many. Others may have more. */
static Py_ssize_t list_parts(const Step *x, Py_ssize_t sentence) {
    Py_ssize_t part = 0, n = x->sentences, soft = x->a[PENALTIES].length, words = x->t->words;
    for (Py_ssize_t at = sentence; part < x->parts && DOUBLE(x, PART_SIZES, at) > 0; at += n) {
        int64_t whose = soft ? INT(x, SOFT, at) : -1;
        int at_end = x->a[AT_END].data && FLAG(x, AT_END, at);
        x->own[part++] = (Part){BITS_AT(x, REACHED, at), x->whole[at], whose, at_end};
    }
    return part;
}

/* Sum what parts cost; what may be given up costs its penalty at most, an end has paid it. */
static double sum_by_penalty(const Step *x, Py_ssize_t sentence, Py_ssize_t parts, int is_end) {
    Py_ssize_t n = x->sentences, soft = x->a[PENALTIES].length / n;
    double total = 0.0;
    for (Py_ssize_t i = 0; i <= soft; i++) x->by_soft[i] = 0.0; /* first: what can't be given up */
    for (Py_ssize_t i = 0; i < parts; i++) {
        int64_t whose = x->own[i].soft;
        if (whose >= -1 && whose < soft) x->by_soft[whose + 1] += x->costs[i];
    }
    for (Py_ssize_t i = -1; i < soft; i++) {
        double cost = x->by_soft[i + 1];
        double least = i < 0 ? CLOSED : -DOUBLE(x, PENALTIES, i * n + sentence);
        if (i < 0 || !is_end) total += cost > least ? cost : least;
    }
    return total;
}

/* Whether there is anything to say that can't be given up and need not be the end. What has to be
   the end is to be said again then. */
INLINED int has_others(const Step *x, Py_ssize_t words, Py_ssize_t parts, const uint64_t *seen) {
    for (Py_ssize_t i = 0; x->a[AT_END].data && i < parts; i++) {
        const Part *own = x->own + i;
        if (!own->at_end && own->soft < 0 && !share(own->reached, seen, words)) return 1;
    }
    return 0;
}

/* What a candidate has still to pay for the parts of its sentence, which are listed: of what it has
   begun only what is missing, if that is of use; of several parts the one that gains most. */
INLINED double cost_to_come(const Step *x, Py_ssize_t words, Py_ssize_t sentence, Py_ssize_t parts,
                            Py_ssize_t candidate) {
    const int64_t *state = x->states + candidate, all = x->ends[x->sentences];
    uint64_t seen[MOST_WORDS], unmet[MOST_WORDS];
    for (Py_ssize_t i = 0; i < words; i++) {
        seen[i] = (uint64_t)state[(SEEN_COLUMN(words) + i) * all];
        unmet[i] = (uint64_t)state[(BANK_COLUMN(words) + 1 + i) * all] & ~seen[i];
    }
    Py_ssize_t best = 0, first = state[0] * x->begun;
    double best_gain = 0.0, total = 0.0, after = x->after[sentence], *costs = x->costs;
    int others = has_others(x, words, parts, seen);
    for (Py_ssize_t i = 0; i < parts; i++) {
        int is_said = share(x->own[i].reached, seen, words) && !(x->own[i].at_end && others);
        costs[i] = is_said ? 0.0 : x->own[i].whole;
    }
    for (Py_ssize_t at = first; at < first + x->begun; at++) {
        int64_t part = INT(x, HERE, at), missing = INT(x, MISSING, at);
        if (missing <= 0 || part < 0 || part >= parts) continue;
        const Part *own = x->own + part;
        if (share(own->reached, seen, words) || (own->at_end && others)) continue;
        if (!share(BITS_AT(x, WANTED, at), unmet, words)) continue;
        if (x->a[NEEDS].data && !is_allowed(BITS_AT(x, NEEDS, at), seen, words)) continue;
        double gain = after * (double)missing - own->whole;
        if (gain > best_gain) {
            best = part;
            best_gain = gain;
        }
    }
    if (best_gain > 0) costs[best] += best_gain;
    if (x->a[PENALTIES].length)
        return sum_by_penalty(x, sentence, parts, x->found[candidate].token == x->number[EOS]);
    for (Py_ssize_t i = 0; i < parts; i++) total += costs[i];
    return total > CLOSED ? total : CLOSED;
}

static double find_cost(const Step *x, Py_ssize_t sentence, Py_ssize_t parts, Py_ssize_t candidate) {
    if (x->t->words == 1) return cost_to_come(x, 1, sentence, parts, candidate);
    return cost_to_come(x, x->t->words, sentence, parts, candidate);
}

/* --- filling the beam ------------------------------------------------------------------------ */

typedef struct {
    double score, price; /* price: what banks are compared by, set back by the rank in the bank */
    int64_t bank;
    Py_ssize_t index;
} Ranked;

/* The candidates of a sentence, how its beam is filled, and room for it. */
typedef struct {
    const int64_t *bank;
    const double *score;
    const int64_t *slots; /* of each bank before adjustment; without, candidates are set back */
    Py_ssize_t width, banks, given, k;
    double handicap;
    Ranked *ranked;
    Py_ssize_t *starts; /* two more than there are banks */
    int64_t *room;      /* four times as many as banks are given */
} Selecting;

/* Sort by score, of equals the first; nearly every bank has few candidates. */
static void sort_by_score(Ranked *ranked, Py_ssize_t count) {
    for (Py_ssize_t i = 1; i < count; i++) {
        Ranked one = ranked[i];
        Py_ssize_t at = i;
        for (; at > 0 && ranked[at - 1].score < one.score; at--) ranked[at] = ranked[at - 1];
        ranked[at] = one;
    }
}

/* Put candidates by bank from the top, then by score, what is none last; return how many are. */
static Py_ssize_t rank(const Selecting *s) {
    Py_ssize_t banks = s->banks, *starts = s->starts;
    memset(starts, 0, (banks + 2) * sizeof *starts);
    for (int writing = 0; writing < 2; writing++) {
        for (Py_ssize_t i = 0; i < s->width; i++) {
            Py_ssize_t place = s->score[i] > CLOSED ? banks - 1 - s->bank[i] : banks;
            if (writing) s->ranked[starts[place]++] = (Ranked){s->score[i], 0.0, s->bank[i], i};
            else starts[place + 1]++;
        }
        for (Py_ssize_t i = 0; !writing && i < banks; i++) starts[i + 1] += starts[i];
    }
    /* Now every entry of `starts` is where its bank ends. */
    for (Py_ssize_t i = 0, begin = 0; i < banks; begin = starts[i++])
        sort_by_score(s->ranked + begin, starts[i] - begin);
    return starts[banks - 1];
}

/* One more than the largest bank; 0 if one is negative. */
static Py_ssize_t count_banks(const int64_t *bank, Py_ssize_t length) {
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (bank[i] < 0) return 0;
        if (bank[i] > most) most = bank[i];
    }
    return (Py_ssize_t)most + 1;
}

/* The slots of each bank after adjustment (paper, section 3.2), in place; `spare` and `lacking` are
   room for as many numbers. */
static void adjust(int64_t *slots, const int64_t *counts, Py_ssize_t banks, int64_t *spare,
                   int64_t *lacking) {
    int64_t spares = 0;
    for (Py_ssize_t i = 0; i < banks; i++) {
        spare[i] = slots[i] > counts[i] ? slots[i] - counts[i] : 0;
        lacking[i] = counts[i] > slots[i] ? counts[i] - slots[i] : 0;
        slots[i] -= spare[i];
        spares += spare[i];
    }
    for (Py_ssize_t distance = 1; spares && distance < banks; distance++) {
        for (Py_ssize_t step = distance; step >= -distance; step -= 2 * distance) {
            for (Py_ssize_t giver = 0; giver < banks; giver++) {
                Py_ssize_t taker = giver + step;
                if (!spare[giver] || taker < 0 || taker >= banks) continue;
                int64_t moved = spare[giver] < lacking[taker] ? spare[giver] : lacking[taker];
                spare[giver] -= moved;
                spares -= moved;
                lacking[taker] -= moved;
                slots[taker] += moved;
            }
        }
    }
}

/* Choose among ranked candidates by the slots of each bank; return how many there are. */
static Py_ssize_t choose_by_slots(const Selecting *s, Py_ssize_t real, Py_ssize_t *chosen) {
    int64_t *given = s->room, *counts = s->room + s->given;
    Py_ssize_t filled = 0;
    memcpy(given, s->slots, s->given * sizeof *given);
    memset(counts, 0, s->given * sizeof *counts);
    for (Py_ssize_t i = 0; i < real; i++) counts[s->ranked[i].bank]++;
    adjust(given, counts, s->given, counts + s->given, counts + 2 * s->given);
    for (Py_ssize_t i = 0; i < real; i++)
        if (given[s->ranked[i].bank]-- > 0) chosen[filled++] = s->ranked[i].index;
    return filled;
}

/* Choose the k best of ranked candidates after each has been set back by its rank in its bank, by
   bank from the top; return how many there are. */
static Py_ssize_t choose_by_price(const Selecting *s, Py_ssize_t real, Py_ssize_t *chosen) {
    Ranked *ranked = s->ranked;
    Py_ssize_t in_bank = 0, count = 0;
    for (Py_ssize_t i = 0; i < real; i++) {
        in_bank = i && ranked[i].bank == ranked[i - 1].bank ? in_bank + 1 : 0;
        double price = ranked[i].price = ranked[i].score - s->handicap * (double)in_bank;
        if (count == s->k && !(price > ranked[chosen[count - 1]].price)) continue;
        Py_ssize_t at = count < s->k ? count++ : count - 1;
        for (; at > 0 && ranked[chosen[at - 1]].price < price; at--) chosen[at] = chosen[at - 1];
        chosen[at] = i;
    }
    for (Py_ssize_t i = 0; i < count; i++) ranked[chosen[i]].price = INFINITY;
    for (Py_ssize_t i = 0, at = 0; at < count; i++)
        if (ranked[i].price == INFINITY) chosen[at++] = ranked[i].index;
    return count;
}

/* Fill the beams of all sentences; candidates of each begin where those of the one before end.
   Write which of its candidates are chosen, and how many. */
static void fill_beams(Buffers *buffers, Selecting *s, const int64_t *bank, const double *score,
                       const Array *slots, const Py_ssize_t *ends, Py_ssize_t sentences,
                       Py_ssize_t *filled, Py_ssize_t *chosen) {
    Py_ssize_t all = ends[sentences];
    s->given = slots->length / sentences;
    s->banks = count_banks(bank, all);
    int fits = s->banks > 0;
    for (Py_ssize_t i = 0; slots->data && s->banks > s->given && i < all; i++)
        fits = fits && (bank[i] < s->given || score[i] == CLOSED);
    refuse_unless(buffers, fits, "select");
    s->ranked = take_room(buffers, all, sizeof *s->ranked);
    s->starts = take_room(buffers, s->banks + 2, sizeof *s->starts);
    s->room = take_room(buffers, 4 * s->given, sizeof *s->room);
    for (Py_ssize_t i = 0; i < sentences && !buffers->failed; i++) {
        s->bank = bank + ends[i];
        s->score = score + ends[i];
        s->slots = INTS(*slots) + i * s->given;
        s->width = ends[i + 1] - ends[i];
        Py_ssize_t real = rank(s);
        filled[i] = slots->data ? choose_by_slots(s, real, chosen + ends[i])
                                : choose_by_price(s, real, chosen + ends[i]);
    }
}

/* --- a whole step ---------------------------------------------------------------------------- */

/* Return whether the answer of a model is what the protocol says. */
static int is_answer_sound(const Array *scores, const Array *ids, const Array *asked,
                           Py_ssize_t rows, int64_t eos, int64_t vocabulary, double rounding) {
    Py_ssize_t top = rows ? ids->length / rows : 0;
    if (scores->length != rows * top) return 0;
    for (Py_ssize_t i = 0; i < asked->length; i++)
        if (!(score_at(asked, i) <= rounding)) return 0;
    for (Py_ssize_t row = 0; row < rows; row++) {
        double before = rounding;
        for (Py_ssize_t i = row * top; i < (row + 1) * top; i++) {
            double score = score_at(scores, i);
            int64_t id = INTS(*ids)[i];
            if (!(score <= before) || id < 0 || id >= vocabulary) return 0;
            if (id == eos && score != CLOSED) return 0;
            before = score;
        }
    }
    return 1;
}

/* Find the candidates of all sentences, and what they lead to. At first all are chosen. */
static void find_candidates(const Step *x) {
    x->ends[0] = 0;
    for (Py_ssize_t s = 0; s < x->sentences; s++) {
        x->filled[s] = collect(x, s, x->found + x->ends[s]);
        x->ends[s + 1] = x->ends[s] + x->filled[s];
        for (Py_ssize_t i = 0; i < x->filled[s]; i++) x->chosen[x->ends[s] + i] = i;
    }
    Py_ssize_t all = x->ends[x->sentences], words = x->t ? x->t->words : 0;
    for (Py_ssize_t i = 0; words == 1 && i < all; i++)
        branch(x, 1, x->found + i, x->states + i, all);
    for (Py_ssize_t i = 0; words > 1 && i < all; i++)
        branch(x, words, x->found + i, x->states + i, all);
}

/* Find what candidates are worth, and what they are compared by; if all are kept, what they have
   still to pay. */
static void weigh(const Step *x) {
    int costs = x->a[SUMS].data != NULL;
    if (costs) {
        learn(x);
        expect_costs(x);
    }
    for (Py_ssize_t s = 0; s < x->sentences; s++) {
        Py_ssize_t parts = costs ? list_parts(x, s) : 0;
        for (Py_ssize_t i = x->ends[s]; i < x->ends[s + 1]; i++) {
            double cost = costs ? find_cost(x, s, parts, i) : 0.0;
            x->worth[i] = x->flags & KEEP_ALL ? cost : x->found[i].score + cost;
            x->compared[i] = costs ? x->worth[i] / x->unit[s] : x->worth[i];
        }
    }
}

/* Put a chosen candidate on its beam; return whether it has just ended. */
static int put(const Step *x, const Candidate *one, Py_ssize_t to, Py_ssize_t size) {
    int before = FLAG(x, FINISHED, one->slot), ended = one->token == x->number[EOS];
    int newly = ended && !before;
    Py_ssize_t all = x->ends[x->sentences], from = one - x->found;
    INT(x, OUT_INTS, to) = one->token;
    INT(x, OUT_INTS, size + to) = one->slot % x->slots;
    INT(x, OUT_INTS, 2 * size + to) = x->row[one->slot];
    DOUBLE(x, OUT_SCORES, to) = before ? DOUBLE(x, LOG_PROB, one->slot) : one->score;
    DOUBLE(x, OUT_SCORES, size + to) = newly ? one->score / x->number[LENGTH] : one->score;
    DOUBLE(x, OUT_SCORES, 2 * size + to) = x->t ? x->worth[from] : one->score;
    FLAG(x, OUT_FLAGS, to) = (unsigned char)ended;
    FLAG(x, OUT_FLAGS, size + to) = (unsigned char)!ended;
    FLAG(x, OUT_FLAGS, 2 * size + to) = (unsigned char)newly;
    for (Py_ssize_t i = 0; x->t && i < COLUMNS(x->t->words); i++)
        INT(x, OUT_STATES, i * size + to) = x->states[i * all + from];
    return newly;
}

/* Write the new beams; return whether anything has just ended. */
static int write_beams(const Step *x, Py_ssize_t width) {
    Py_ssize_t size = x->sentences * width;
    int newly = 0;
    memset(x->a[OUT_INTS].data, 0, 3 * size * sizeof(int64_t));
    memset(x->a[OUT_FLAGS].data, 0, 3 * size);
    if (x->t) memset(x->a[OUT_STATES].data, 0, COLUMNS(x->t->words) * size * sizeof(int64_t));
    for (Py_ssize_t i = 0; i < 3 * size; i++) DOUBLE(x, OUT_SCORES, i) = CLOSED;
    for (Py_ssize_t s = 0; s < x->sentences; s++)
        for (Py_ssize_t i = 0, first = x->ends[s]; i < x->filled[s]; i++)
            newly |= put(x, x->found + first + x->chosen[first + i], s * width + i, size);
    return newly;
}

/* Let nothing live that is too far below the best of its bank, or, by worth, of its sentence. */
static void drop(Buffers *buffers, const Step *x, Py_ssize_t width) {
    int by_worth = (x->flags & BY_WORTH) != 0;
    Py_ssize_t size = x->sentences * width;
    Py_ssize_t first_bank = x->t ? BANK_COLUMN(x->t->words) * size : 0;
    const int64_t *bank = x->t && !by_worth ? INTS(x->a[OUT_STATES]) + first_bank : NULL;
    const double *score = DOUBLES(x->a[OUT_SCORES]) + (1 + by_worth) * size;
    unsigned char *live = FLAGS(x->a[OUT_FLAGS]) + size;
    Py_ssize_t banks = bank ? count_banks(bank, size) : 1;
    double *best = take_room(buffers, banks, sizeof *best);
    for (Py_ssize_t first = 0; first < size && !buffers->failed; first += width) {
        for (Py_ssize_t i = 0; i < banks; i++) best[i] = CLOSED;
        for (Py_ssize_t i = first; i < first + width; i++) {
            int64_t of = bank ? bank[i] : 0;
            if (live[i] && score[i] > best[of]) best[of] = score[i];
        }
        for (Py_ssize_t i = first; i < first + width; i++)
            live[i] &= score[i] >= best[bank ? bank[i] : 0] - x->number[LAG];
    }
}

#endif
