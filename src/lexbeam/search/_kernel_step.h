/* The arithmetic of a search step, compiled: automaton, candidates, costs, selection, pruning.

Every function here does what a few dozen calls of NumPy do on arrays of fifty numbers; the NumPy
code beside the caller is the definition, and the tests hold both equal. Nothing is kept between
calls but the tables of an automaton. What Python calls is in `_kernel.c`. */

#ifndef LEXBEAM_KERNEL_STEP
#define LEXBEAM_KERNEL_STEP

#include "../_compiled_arrays.h"

/* --- the tables of an automaton ---------------------------------------------------------------- */

enum {
    SYMBOL, FROM_ROOT, ROW_OF_NODE, MOVE_SYMBOLS, MOVE_TARGETS, LISTED_KEYS, LISTED_TARGETS,
    ASK_TOKENS, ASK_TARGETS, SERVES,
    NOW_SETS, NOW_REPEATS, NOW_NEEDS, NOW_WEIGHT,
    LATER_SETS, LATER_REPEATS, LATER_NEEDS, LATER_WEIGHT,
    BEGUN_GAIN, BEGUN_BITS, BEGUN_NEEDS, BOUNDARY, TABLES
};

typedef struct {
    Buffers buffers;
    Array table[TABLES];
    int64_t symbols;
    Py_ssize_t nodes, moves, asked, now, later, begun;
} Tables;

/* The node that a token leads to. */
static int64_t follow(const Tables *t, int64_t node, int64_t token) {
    int64_t symbol = INTS(t->table[SYMBOL])[token];
    const int64_t *symbols = INTS(t->table[MOVE_SYMBOLS]) + node * t->moves;
    for (Py_ssize_t move = 0; move < t->moves; move++)
        if (symbols[move] == symbol) return INTS(t->table[MOVE_TARGETS])[node * t->moves + move];
    Py_ssize_t low = 0, high = t->table[LISTED_KEYS].length;
    if (high) {
        const int64_t *keys = INTS(t->table[LISTED_KEYS]);
        int64_t sought = node * t->symbols + symbol;
        while (low < high) {
            Py_ssize_t middle = (low + high) / 2;
            if (keys[middle] < sought) low = middle + 1;
            else high = middle;
        }
        if (low < t->table[LISTED_KEYS].length && keys[low] == sought)
            return INTS(t->table[LISTED_TARGETS])[low];
    }
    return INTS(t->table[FROM_ROOT])[INTS(t->table[ROW_OF_NODE])[node] + symbol];
}

/* Mark what ends at a node as met, each occurrence once; `first` is the first of four tables. */
static void complete(
    const Tables *t, int first, Py_ssize_t layers, int64_t node, uint64_t *met, int64_t *tokens
) {
    for (Py_ssize_t layer = 0; layer < layers; layer++) {
        Py_ssize_t at = layer * t->nodes + node;
        uint64_t needs = BITS(t->table[first + 2])[at];
        if (needs && !(needs & *met)) continue;
        uint64_t added = BITS(t->table[first])[at];
        added |= (*met << 1) & BITS(t->table[first + 1])[at];
        added &= ~*met;
        if (added) *tokens += INTS(t->table[first + 3])[at];
        *met |= added;
    }
}

/* The tokens of the longest beginning of something unmet. */
static int64_t in_progress(const Tables *t, int64_t node, uint64_t seen) {
    int64_t most = 0;
    for (Py_ssize_t layer = 0; layer < t->begun; layer++) {
        Py_ssize_t at = layer * t->nodes + node;
        uint64_t needs = BITS(t->table[BEGUN_NEEDS])[at];
        if (!(BITS(t->table[BEGUN_BITS])[at] & ~seen) || (needs && !(needs & seen))) continue;
        int64_t gain = INTS(t->table[BEGUN_GAIN])[at];
        if (gain > most) most = gain;
    }
    return most;
}

/* Where hypotheses stand, as far as it says what they ask for. */
typedef struct {
    const int64_t *slot; /* of each row; NULL: rows are slots */
    const int64_t *node;
    const uint64_t *seen, *stages;
    const unsigned char *hold;
} Asking;

/* Mark which of the listed tokens start or continue an unmet phrase of each row; return how many a
   row has at most. `useful` has room for all that is listed. */
static Py_ssize_t find_useful(const Tables *t, const Asking *a, Py_ssize_t rows, unsigned char *useful) {
    Py_ssize_t width = 0, listed = t->asked, words = t->table[BOUNDARY].length;
    for (Py_ssize_t row = 0; row < rows; row++) {
        Py_ssize_t slot = a->slot ? a->slot[row] : row, at = a->node[slot] * listed, count = 0;
        uint64_t unmet = ~a->seen[slot] & (a->stages ? a->stages[slot] : ~(uint64_t)0);
        for (Py_ssize_t i = 0; i < listed; i++) {
            int64_t token = INTS(t->table[ASK_TOKENS])[at + i];
            int use = (BITS(t->table[SERVES])[INTS(t->table[ASK_TARGETS])[at + i]] & unmet) != 0;
            if (use && a->hold && a->hold[slot] && words)
                use = !FLAGS(t->table[BOUNDARY])[token < 0 ? token + words : token];
            useful[row * listed + i] = (unsigned char)use;
            count += use;
        }
        if (count > width) width = count;
    }
    return width;
}

/* Write what is useful side by side, `width` in each row; rows of tokens begin every `stride`. */
static void write_useful(const Tables *t, const Asking *a, Py_ssize_t rows, Py_ssize_t width,
                         const unsigned char *useful, int64_t *tokens, Py_ssize_t stride,
                         int64_t *targets) {
    for (Py_ssize_t row = 0; row < rows; row++) {
        Py_ssize_t at = a->node[a->slot ? a->slot[row] : row] * t->asked, count = 0;
        for (Py_ssize_t i = 0; i < t->asked; i++) {
            if (!useful[row * t->asked + i]) continue;
            tokens[row * stride + count] = INTS(t->table[ASK_TOKENS])[at + i];
            targets[row * width + count++] = INTS(t->table[ASK_TARGETS])[at + i];
        }
        for (; count < width; count++) {
            tokens[row * stride + count] = PAD;
            targets[row * width + count] = 0;
        }
    }
}

/* --- the model's answer ------------------------------------------------------------------------ */

/* The hypotheses of a batch and what the model says of their continuations. */
typedef struct {
    Array log_prob, score, live, finished, first;
    Array top_scores, top_ids, ask_scores, may_end;
    Array row; /* written: the model's row of each slot */
    double lowest; /* what the end and what is asked for score at least */
    Py_ssize_t sentences, slots, rows, top, answers; /* answers: columns of ask_scores */
} Proposals;

/* What the model answered for an asked token of a row; 0 is the end. */
static double answer_at(const Proposals *p, int64_t row, Py_ssize_t asked) {
    double score = score_at(&p->ask_scores, row * p->answers + asked);
    return score > p->lowest ? score : p->lowest;
}

/* What an option of a slot scores; option 0 is the end (or what is forced), or to stay finished. */
static double option_score(const Proposals *p, Py_ssize_t slot, Py_ssize_t option) {
    if (!FLAGS(p->live)[slot])
        return option == 0 && FLAGS(p->finished)[slot] ? DOUBLES(p->score)[slot] : CLOSED;
    int64_t row = INTS(p->row)[slot];
    double so_far = DOUBLES(p->log_prob)[slot];
    if (option) return so_far + score_at(&p->top_scores, row * p->top + option - 1);
    if (p->may_end.data && !FLAGS(p->may_end)[row]) return CLOSED;
    return so_far + answer_at(p, row, 0);
}

static int64_t option_token(const Proposals *p, Py_ssize_t slot, Py_ssize_t option) {
    if (option == 0) return INTS(p->first)[slot / p->slots];
    return INTS(p->top_ids)[INTS(p->row)[slot] * p->top + option - 1];
}

typedef struct {
    double score;
    Py_ssize_t slot, option;
} Option;

/* Write the k best options of a sentence, best first, of equals the first; return how many. */
static Py_ssize_t k_best(const Proposals *p, Py_ssize_t sentence, Py_ssize_t k, Option *best) {
    Py_ssize_t count = 0;
    for (Py_ssize_t slot = sentence * p->slots; slot < (sentence + 1) * p->slots; slot++) {
        Py_ssize_t options = FLAGS(p->live)[slot] ? 1 + p->top : FLAGS(p->finished)[slot] != 0;
        for (Py_ssize_t option = 0; option < options; option++) {
            double score = option_score(p, slot, option);
            if (score == CLOSED || (count == k && !(score > best[k - 1].score))) continue;
            Py_ssize_t at = count < k ? count++ : k - 1;
            for (; at > 0 && best[at - 1].score < score; at--) best[at] = best[at - 1];
            best[at] = (Option){score, slot, option};
        }
    }
    return count;
}

/* --- candidates with constraints --------------------------------------------------------------- */

typedef struct {
    double score;
    int64_t slot, token, node;
} Candidate;

/* Where the hypotheses of all slots stand in their constraints. */
typedef struct {
    Array node, met, met_tokens, seen, seen_tokens, stages;
} Standing;

static uint64_t unmet_at(const Standing *s, Py_ssize_t slot) {
    return ~BITS(s->seen)[slot] & (s->stages.data ? BITS(s->stages)[slot] : ~(uint64_t)0);
}

typedef struct {
    const Tables *t; /* NULL: plain search */
    const Proposals *p;
    const Standing *s;
    const int64_t *tokens; /* what was asked, a row begins every `stride` */
    Array targets;         /* where that leads. shape: (rows, asked) */
    Array sizes;           /* the beam of each sentence, if not k for all */
    Py_ssize_t k, asked, stride;
    int word_ends;
    Option *best;
    unsigned char *among; /* which options are among the k best */
} Collector;

/* Add an option, unless it goes on with an unmet phrase: then it was asked for. */
static void add_option(const Collector *c, Option one, Candidate *found, Py_ssize_t *count) {
    int64_t token = option_token(c->p, one.slot, one.option);
    int64_t node = follow(c->t, INTS(c->s->node)[one.slot], token);
    uint64_t serves = BITS(c->t->table[SERVES])[node];
    if (c->asked && one.option && (serves & unmet_at(c->s, one.slot))) return;
    found[(*count)++] = (Candidate){one.score, one.slot, token, node};
}

/* The best option of a slot, of those that end a word if `ending`; of equals the first. */
static Option best_of_slot(const Collector *c, Py_ssize_t slot, int ending) {
    Option best = {CLOSED, slot, 0};
    Py_ssize_t options = FLAGS(c->p->live)[slot] ? 1 + c->p->top : 1;
    for (Py_ssize_t option = 0; option < options; option++) {
        double score = option_score(c->p, slot, option);
        if (!(score > best.score)) continue;
        if (ending && !FLAGS(c->t->table[BOUNDARY])[option_token(c->p, slot, option)]) continue;
        best.score = score;
        best.option = option;
    }
    return best;
}

/* Write the k best options of a sentence, which are the candidates of plain search. */
static Py_ssize_t collect_plain(const Collector *c, Py_ssize_t sentence, Candidate *found) {
    Py_ssize_t count = k_best(c->p, sentence, c->k, c->best);
    for (Py_ssize_t i = 0; i < count; i++) {
        Option one = c->best[i];
        found[i] = (Candidate){one.score, one.slot, option_token(c->p, one.slot, one.option), 0};
    }
    return count;
}

/* Write the candidates of a sentence (paper, Algorithm 2, lines 2 to 10); return how many. */
static Py_ssize_t collect_one(const Collector *c, Py_ssize_t sentence, Candidate *found) {
    const Proposals *p = c->p;
    if (!c->t) return collect_plain(c, sentence, found);
    Py_ssize_t count = 0, options = 1 + p->top, first = sentence * p->slots, end = first + p->slots;
    Py_ssize_t k = c->sizes.data ? (Py_ssize_t)INTS(c->sizes)[sentence] : c->k;
    Py_ssize_t best = k_best(p, sentence, k, c->best);
    memset(c->among, 0, p->slots * options);
    for (Py_ssize_t rank = 0; rank < best; rank++) {
        c->among[(c->best[rank].slot - first) * options + c->best[rank].option] = 1;
        add_option(c, c->best[rank], found, &count);
    }
    for (Py_ssize_t slot = first; slot < end; slot++) {
        Option one = best_of_slot(c, slot, 0);
        if (one.score == CLOSED || c->among[(slot - first) * options + one.option]) continue;
        add_option(c, one, found, &count);
    }
    for (Py_ssize_t slot = first; slot < end && c->word_ends; slot++) {
        if (INTS(c->s->seen_tokens)[slot] <= INTS(c->s->met_tokens)[slot]) continue;
        Option one = best_of_slot(c, slot, 1);
        if (one.score == CLOSED || c->among[(slot - first) * options + one.option] ||
            one.option == best_of_slot(c, slot, 0).option)
            continue;
        add_option(c, one, found, &count);
    }
    for (Py_ssize_t slot = first; slot < end && c->asked; slot++) {
        if (!FLAGS(p->live)[slot]) continue;
        int64_t row = INTS(p->row)[slot];
        for (Py_ssize_t i = 0; i < c->asked; i++) {
            int64_t token = c->tokens[row * c->stride + i];
            double score = DOUBLES(p->log_prob)[slot] + answer_at(p, row, 1 + i);
            if (token == PAD || score == CLOSED) continue;
            int64_t target = INTS(c->targets)[row * c->asked + i];
            found[count++] = (Candidate){score, slot, token, target};
        }
    }
    return count;
}

/* Let a candidate take its token: write its state into row `at` of the columns of `out`. */
static void branch(const Tables *t, const Standing *s, const Candidate *c, int64_t *out,
                   Py_ssize_t stride) {
    uint64_t met = BITS(s->met)[c->slot], seen = BITS(s->seen)[c->slot];
    int64_t met_tokens = INTS(s->met_tokens)[c->slot], seen_tokens = INTS(s->seen_tokens)[c->slot];
    if (!t->table[BOUNDARY].length || FLAGS(t->table[BOUNDARY])[c->token]) {
        met = seen;
        met_tokens = seen_tokens;
    }
    complete(t, NOW_SETS, t->now, c->node, &met, &met_tokens);
    seen = met;
    seen_tokens = met_tokens;
    complete(t, LATER_SETS, t->later, c->node, &seen, &seen_tokens);
    out[3 * stride] = (int64_t)met;
    out[4 * stride] = met_tokens;
    out[5 * stride] = (int64_t)seen;
    out[6 * stride] = seen_tokens;
    out[7 * stride] = seen_tokens + in_progress(t, c->node, seen);
}

/* --- what constraints are going to cost -------------------------------------------------------- */

/* The tables of the parts of constraints: by part and sentence, and by node and part. */
typedef struct {
    Array whole, after, reached, sizes, missing, wanted, needs;
    Py_ssize_t sentences, parts;
} Parts;

/* What a hypothesis has still to pay; `costs` is room for a number per part. */
static double cost_to_come(const Parts *p, Py_ssize_t sentence, int64_t node, uint64_t seen,
                           uint64_t unmet, double *costs) {
    double best_gain = 0.0, total = 0.0;
    Py_ssize_t best = 0;
    for (Py_ssize_t part = 0; part < p->parts; part++) {
        Py_ssize_t here = part * p->sentences + sentence, at = node * p->parts + part;
        int unseen = !(BITS(p->reached)[here] & seen) && DOUBLES(p->sizes)[here] > 0;
        costs[part] = unseen ? DOUBLES(p->whole)[here] : 0.0;
        double gain = 0.0;
        int64_t missing = INTS(p->missing)[at];
        uint64_t needs = p->needs.data ? BITS(p->needs)[at] : 0;
        if (unseen && missing > 0 && (BITS(p->wanted)[at] & unmet) && (!needs || (needs & seen)))
            gain = DOUBLES(p->after)[sentence] * (double)missing - costs[part];
        if (part == 0 || gain > best_gain) {
            best = part;
            best_gain = gain;
        }
    }
    for (Py_ssize_t part = 0; part < p->parts; part++) {
        if (part == best && best_gain > 0) costs[part] += best_gain;
        total += costs[part];
    }
    return total;
}

/* --- filling the beam -------------------------------------------------------------------------- */

typedef struct {
    double score, price; /* price: what banks are compared by, set back by the rank in the bank */
    int64_t bank;
    Py_ssize_t index;
} Ranked;

/* By score, of equals the first. */
static int by_score(const void *left, const void *right) {
    const Ranked *a = left, *b = right;
    if (a->score != b->score) return a->score < b->score ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

/* Sort by score; nearly every bank has few candidates. */
static void sort_by_score(Ranked *ranked, Py_ssize_t count) {
    if (count > 32) {
        qsort(ranked, count, sizeof *ranked, by_score);
        return;
    }
    for (Py_ssize_t i = 1; i < count; i++) {
        Ranked one = ranked[i];
        Py_ssize_t at = i;
        for (; at > 0 && ranked[at - 1].score < one.score; at--) ranked[at] = ranked[at - 1];
        ranked[at] = one;
    }
}

/* Put the candidates of a sentence by bank from the top, then by score; what is no candidate comes
   last. `starts` is room for a number per bank and two more. Return how many are real. */
static Py_ssize_t rank(const int64_t *bank, const double *score, Py_ssize_t width, Py_ssize_t banks,
                       Ranked *ranked, Py_ssize_t *starts) {
    memset(starts, 0, (banks + 2) * sizeof *starts);
    for (int writing = 0; writing < 2; writing++) {
        for (Py_ssize_t i = 0; i < width; i++) {
            Ranked one = {score[i], 0.0, bank[i], i};
            Py_ssize_t place = one.score > CLOSED ? banks - 1 - one.bank : banks;
            if (writing) ranked[starts[place]++] = one;
            else starts[place + 1]++;
        }
        for (Py_ssize_t i = 0; !writing && i < banks; i++) starts[i + 1] += starts[i];
    }
    /* Now every entry of `starts` is where its bank ends. */
    for (Py_ssize_t i = 0, begin = 0; i < banks; begin = starts[i++])
        sort_by_score(ranked + begin, starts[i] - begin);
    return banks ? starts[banks - 1] : 0;
}

/* One more than the largest bank; -1 if one is negative. */
static Py_ssize_t count_banks(const int64_t *bank, Py_ssize_t length) {
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (bank[i] < 0) return -1;
        if (bank[i] > most) most = bank[i];
    }
    return (Py_ssize_t)most + 1;
}

/* The slots of each bank after adjustment (paper, section 3.2), in place; `spare` and `lacking` are
   room for as many numbers. */
static void adjust(int64_t *slots, const int64_t *counts, Py_ssize_t banks, int64_t *spare,
                   int64_t *lacking) {
    int64_t spares = 0, lacks = 0;
    for (Py_ssize_t i = 0; i < banks; i++) {
        spare[i] = slots[i] > counts[i] ? slots[i] - counts[i] : 0;
        lacking[i] = counts[i] > slots[i] ? counts[i] - slots[i] : 0;
        spares += spare[i];
        lacks += lacking[i];
        if (slots[i] > counts[i]) slots[i] = counts[i];
    }
    int64_t to_move = spares < lacks ? spares : lacks;
    for (Py_ssize_t distance = 1; to_move > 0 && distance < banks; distance++) {
        for (int outward = 1; outward >= -1; outward -= 2) {
            for (Py_ssize_t giver = 0; giver < banks; giver++) {
                Py_ssize_t taker = giver + outward * distance;
                if (taker < 0 || taker >= banks) continue;
                int64_t moved = spare[giver] < lacking[taker] ? spare[giver] : lacking[taker];
                spare[giver] -= moved;
                lacking[taker] -= moved;
                slots[taker] += moved;
                to_move -= moved;
            }
        }
    }
}

/* Choose among ranked candidates by the slots of each bank before adjustment; return how many.
   `room` has place for four numbers per bank. */
static Py_ssize_t choose_by_slots(const Ranked *ranked, Py_ssize_t real, const int64_t *slots,
                                  Py_ssize_t banks, int64_t *room, Py_ssize_t *chosen) {
    int64_t *given = room, *counts = room + banks;
    Py_ssize_t filled = 0;
    memcpy(given, slots, banks * sizeof *given);
    memset(counts, 0, banks * sizeof *counts);
    for (Py_ssize_t i = 0; i < real; i++) counts[ranked[i].bank]++;
    adjust(given, counts, banks, counts + banks, counts + 2 * banks);
    for (Py_ssize_t i = 0; i < real; i++)
        if (given[ranked[i].bank]-- > 0) chosen[filled++] = ranked[i].index;
    return filled;
}

static int by_number(const void *left, const void *right) {
    Py_ssize_t a = *(const Py_ssize_t *)left, b = *(const Py_ssize_t *)right;
    return (a > b) - (a < b);
}

/* Choose the k best of ranked candidates after each has been set back by its rank in its bank, by
   bank from the top; return how many there are. */
static Py_ssize_t choose_by_price(Ranked *ranked, Py_ssize_t width, Py_ssize_t k, double handicap,
                                  Py_ssize_t *chosen) {
    Py_ssize_t in_bank = 0, count = 0;
    for (Py_ssize_t i = 0; i < width && k; i++) {
        in_bank = i && ranked[i].bank == ranked[i - 1].bank ? in_bank + 1 : 0;
        double price = ranked[i].price = ranked[i].score - handicap * (double)in_bank;
        if (count == k && !(price > ranked[chosen[k - 1]].price)) continue;
        Py_ssize_t at = count < k ? count++ : k - 1;
        for (; at > 0 && ranked[chosen[at - 1]].price < price; at--) chosen[at] = chosen[at - 1];
        chosen[at] = i;
    }
    qsort(chosen, count, sizeof *chosen, by_number);
    for (Py_ssize_t i = 0; i < count; i++) chosen[i] = ranked[chosen[i]].index;
    return count;
}

/* --- dropping what fell behind, and the model's mistakes --------------------------------------- */

/* Clear `live` where a hypothesis of a sentence is more than `lag` below the best live one of its
   bank, or, without `bank`, of all; `best` is room for a number per bank. */
static void drop(const double *score, unsigned char *live, const int64_t *bank, Py_ssize_t width,
                 double lag, double *best, Py_ssize_t banks) {
    for (Py_ssize_t i = 0; i < banks; i++) best[i] = CLOSED;
    for (Py_ssize_t i = 0; i < width; i++) {
        int64_t of = bank ? bank[i] : 0;
        if (live[i] && score[i] > best[of]) best[of] = score[i];
    }
    for (Py_ssize_t i = 0; i < width; i++) live[i] &= score[i] >= best[bank ? bank[i] : 0] - lag;
}

/* Return whether the answer of a model is what the protocol says; bans are for each row. */
static int is_answer_sound(const Array *scores, const Array *ids, const Array *asked, const Array *ban,
                           Py_ssize_t rows, Py_ssize_t eos, Py_ssize_t vocabulary, double rounding) {
    Py_ssize_t top = rows ? ids->length / rows : 0, banned = rows ? ban->length / rows : 0;
    if (scores->length != ids->length || rows * top != ids->length || rows * banned != ban->length)
        return 0;
    for (Py_ssize_t i = 0; i < asked->length; i++)
        if (!(score_at(asked, i) <= rounding)) return 0;
    for (Py_ssize_t row = 0; row < rows; row++) {
        double before = rounding;
        for (Py_ssize_t i = row * top; i < (row + 1) * top; i++) {
            double score = score_at(scores, i);
            int64_t id = INTS(*ids)[i];
            if (!(score <= before && id >= 0 && id < vocabulary && (id != eos || score == CLOSED)))
                return 0;
            before = score;
            for (Py_ssize_t b = row * banned; b < (row + 1) * banned; b++)
                if (INTS(*ban)[b] == id && score != CLOSED) return 0;
        }
    }
    return 1;
}

/* --- a whole step ------------------------------------------------------------------------------ */

/* Numbers that a step is given in one array. */
enum { LOWEST, ROUNDING, LENGTH, LAG, HANDICAP, LOWEST_LEARNT, WEIGHT, CONTINUES, AT_THE_START, STEP,
       NUMBERS };
enum { WORD_ENDS = 1, DROP = 2, BY_WORTH = 4 };

/* Everything that a step reads, its room, and what it writes. */
typedef struct {
    const Tables *t; /* NULL: plain search */
    Proposals p;
    Standing s;
    Collector c;
    Array bank, sizes, slots, ask;
    Array sums, counts, kinds, expected, prices, drafts; /* what `search.future_cost` has learnt */
    Parts parts;
    Array out_ints, out_states, out_scores, out_flags;
    const double *number;
    Py_ssize_t flags, eos, vocabulary;
    Candidate *found;
    Py_ssize_t *ends, *filled, *chosen;
    int64_t *states; /* columns of all candidates, as `branch` writes them */
    double *worth, *unit, *learnt, *costs;
} Step;

/* Learn from what the model answered for asked tokens, as `sum_by_kind`, and find what each part
   is expected to cost. */
static void expect_costs(Step *x) {
    const Proposals *p = &x->p;
    const double *number = x->number;
    double *sums = DOUBLES(x->sums), *counts = DOUBLES(x->counts), *learnt = x->learnt;
    for (Py_ssize_t slot = 0; slot < p->log_prob.length; slot++) {
        int64_t row = INTS(p->row)[slot];
        for (Py_ssize_t i = 0; i < x->c.asked && FLAGS(p->live)[slot]; i++) {
            if (x->c.tokens[row * x->c.stride + i] == PAD) continue;
            double score = answer_at(p, row, 1 + i);
            int64_t kind = INTS(x->kinds)[INTS(x->c.targets)[row * x->c.asked + i]];
            kind += 2 * (slot / p->slots);
            learnt[kind] += score > number[LOWEST_LEARNT] ? score : number[LOWEST_LEARNT];
            learnt[2 * p->sentences + kind] += 1.0;
        }
    }
    for (Py_ssize_t i = 0; i < 2 * p->sentences; i++) {
        sums[i] += learnt[i];
        counts[i] += learnt[2 * p->sentences + i];
    }
    for (Py_ssize_t s = 0; s < p->sentences; s++) {
        double mean = sums[2 * s] / (counts[2 * s] > 1.0 ? counts[2 * s] : 1.0);
        double after = (sums[2 * s + 1] + number[CONTINUES] * mean) / (counts[2 * s + 1] + number[WEIGHT]);
        double progress = (number[STEP] + 1.0) / DOUBLES(x->expected)[s];
        double rising = (1.0 - number[AT_THE_START]) * (progress < 1.0 ? progress : 1.0);
        x->unit[s] = -mean > 1.0 ? -mean : 1.0;
        DOUBLES(x->parts.after)[s] = after;
        for (Py_ssize_t part = 0; part < x->parts.parts; part++) {
            Py_ssize_t at = part * p->sentences + s;
            double first = x->prices.data && INTS(x->drafts)[s] > 0 ? DOUBLES(x->prices)[at]
                                                                    : mean * (number[AT_THE_START] + rising);
            DOUBLES(x->parts.whole)[at] = first + after * (DOUBLES(x->parts.sizes)[at] - 1.0);
        }
    }
}

/* Choose the new beams among the candidates. */
static void choose(Buffers *buffers, Step *x) {
    Py_ssize_t sentences = x->p.sentences, all = x->ends[sentences], k = x->c.k;
    Py_ssize_t given = x->slots.length / sentences;
    int64_t *bank = x->states + 7 * all;
    double *compared = x->worth + all;
    for (Py_ssize_t i = 0; i < all; i++) {
        x->states[i] = x->found[i].slot;
        x->states[2 * all + i] = x->found[i].node;
        branch(x->t, &x->s, &x->found[i], x->states + i, all);
    }
    if (x->sums.data) expect_costs(x);
    for (Py_ssize_t s = 0; s < sentences; s++) {
        for (Py_ssize_t i = x->ends[s]; i < x->ends[s + 1]; i++) {
            uint64_t seen = (uint64_t)x->states[5 * all + i];
            double cost = 0.0;
            if (x->sums.data)
                cost = cost_to_come(&x->parts, s, x->found[i].node, seen, ~seen, x->costs);
            x->worth[i] = x->sums.data ? x->found[i].score + cost : x->found[i].score;
            compared[i] = x->sums.data ? x->worth[i] / x->unit[s] : x->worth[i];
        }
    }
    Py_ssize_t banks = count_banks(bank, all);
    refuse_unless(buffers, banks > 0 && (!x->slots.data || banks <= given), "advance");
    Ranked *ranked = take_room(buffers, all, sizeof *ranked);
    Py_ssize_t *starts = take_room(buffers, banks + 2, sizeof *starts);
    int64_t *room = take_room(buffers, 4 * given, sizeof *room);
    for (Py_ssize_t s = 0; s < sentences && !buffers->failed; s++) {
        Py_ssize_t first = x->ends[s], count = x->ends[s + 1] - first, *chosen = x->chosen + s * k;
        Py_ssize_t real = rank(bank + first, compared + first, count, banks, ranked, starts);
        x->filled[s] = x->slots.data
            ? choose_by_slots(ranked, real, INTS(x->slots) + s * given, given, room, chosen)
            : choose_by_price(ranked, real, k, x->number[HANDICAP], chosen);
    }
}

/* Put a chosen candidate on its beam; return whether it has just ended. */
static int put(Step *x, Py_ssize_t sentence, const Candidate *one, Py_ssize_t to, Py_ssize_t size) {
    int before = FLAGS(x->p.finished)[one->slot], ended = one->token == x->eos;
    int newly = ended && !before;
    INTS(x->out_ints)[to] = one->token;
    INTS(x->out_ints)[size + to] = one->slot - sentence * x->p.slots;
    INTS(x->out_ints)[2 * size + to] = INTS(x->p.row)[one->slot];
    DOUBLES(x->out_scores)[to] = before ? DOUBLES(x->p.log_prob)[one->slot] : one->score;
    DOUBLES(x->out_scores)[size + to] = newly ? one->score / x->number[LENGTH] : one->score;
    FLAGS(x->out_flags)[to] = (unsigned char)ended;
    FLAGS(x->out_flags)[size + to] = (unsigned char)!ended;
    FLAGS(x->out_flags)[2 * size + to] = (unsigned char)newly;
    if (!x->t) return newly;
    Py_ssize_t all = x->ends[x->p.sentences], from = one - x->found;
    for (int i = 0; i < 6; i++) INTS(x->out_states)[i * size + to] = x->states[(2 + i) * all + from];
    DOUBLES(x->out_scores)[2 * size + to] = x->worth[from];
    return newly;
}

/* Write the new beams; return whether anything has just ended. */
static int write_beams(Step *x, Py_ssize_t width) {
    Py_ssize_t size = x->p.sentences * width;
    int newly = 0;
    for (Py_ssize_t s = 0; s < x->p.sentences; s++) {
        for (Py_ssize_t i = 0; i < width; i++) {
            Py_ssize_t to = s * width + i;
            if (i < x->filled[s]) {
                const Candidate *one = x->found + x->ends[s] + x->chosen[s * x->c.k + i];
                newly |= put(x, s, one, to, size);
                continue;
            }
            for (int j = 0; j < 3; j++) {
                INTS(x->out_ints)[j * size + to] = 0;
                DOUBLES(x->out_scores)[j * size + to] = CLOSED;
                FLAGS(x->out_flags)[j * size + to] = 0;
            }
            for (int j = 0; x->t && j < 6; j++) INTS(x->out_states)[j * size + to] = 0;
        }
    }
    return newly;
}

/* Drop what lags behind. */
static void drop_from_beams(Buffers *buffers, Step *x, Py_ssize_t width) {
    Py_ssize_t size = x->p.sentences * width, banks = 1;
    const int64_t *bank = x->t && !(x->flags & BY_WORTH) ? INTS(x->out_states) + 5 * size : NULL;
    const double *score = DOUBLES(x->out_scores) + (x->flags & BY_WORTH ? 2 : 1) * size;
    if (bank) banks = count_banks(bank, size);
    double *best = take_room(buffers, banks, sizeof *best);
    for (Py_ssize_t at = 0; at < size && !buffers->failed; at += width)
        drop(score + at, FLAGS(x->out_flags) + size + at, bank ? bank + at : NULL, width,
             x->number[LAG], best, banks);
}

/* Find the candidates of all sentences; of plain search all are chosen. */
static void find_candidates(Step *x) {
    x->ends[0] = 0;
    for (Py_ssize_t s = 0; s < x->p.sentences; s++) {
        Py_ssize_t count = collect_one(&x->c, s, x->found + x->ends[s]);
        x->ends[s + 1] = x->ends[s] + count;
        for (Py_ssize_t i = 0; i < count && !x->t; i++) x->chosen[s * x->c.k + i] = i;
        x->filled[s] = count;
    }
}

#endif
