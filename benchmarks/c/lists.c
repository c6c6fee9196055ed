/* Lists to metrics in one plain pass: what a loop written for this alone needs.
 *
 * Rows are grouped by user and best first, held-out items grouped by user; both start at user 0
 * and every user has both. For each user the held-out items are marked, the list is walked once,
 * and at its end all metrics at all cut-offs are written: NDCG, Recall, Precision, HitRate, F1,
 * MRR, MAP (in this order, each at every cut-off) and RPrecision. Gains are 1, no item comes
 * twice in a list, nothing ties. One thread.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { NDCG, RECALL, PRECISION, HITRATE, F1, MRR, MAP, N_FAMILIES };

int lists_to_metrics(const int32_t *users, const int32_t *items, int64_t n,
                     const int32_t *target_users, const int32_t *target_items, int64_t n_targets,
                     int32_t n_users, int32_t n_items, const int32_t *cuts, int32_t n_cuts,
                     int32_t depth, double *out)
{
    int32_t *wanted = calloc(n_items, sizeof *wanted); /* user + 1 whose target it is */
    double *discount = malloc((depth + 1) * sizeof *discount);
    double *ideal = malloc((depth + 1) * sizeof *ideal);
    int32_t *hits = malloc(depth * sizeof *hits);
    if (!wanted || !discount || !ideal || !hits)
        return 1;
    ideal[0] = 0.0;
    for (int32_t r = 1; r <= depth; r++) {
        discount[r] = 1.0 / log2(r + 1.0);
        ideal[r] = ideal[r - 1] + discount[r];
    }
    int64_t row = 0, t = 0;
    for (int32_t u = 0; u < n_users; u++) {
        int32_t relevant = 0, found = 0;
        for (; t < n_targets && target_users[t] == u; t++, relevant++)
            wanted[target_items[t]] = u + 1;
        for (int32_t rank = 1; row < n && users[row] == u; row++, rank++)
            if (wanted[items[row]] == u + 1)
                hits[found++] = rank;
        double dcg = 0.0, precisions = 0.0;
        int32_t h = 0, right = 0;
        for (int32_t j = 0; j < n_cuts; j++) { /* cut-offs ascend */
            int32_t k = cuts[j], best = relevant < k ? relevant : k;
            for (; h < found && hits[h] <= k; h++) {
                dcg += discount[hits[h]];
                precisions += (h + 1.0) / hits[h];
            }
            double *at = out + (int64_t)j * n_users + u;
            int64_t family = (int64_t)n_cuts * n_users;
            at[NDCG * family] = dcg / ideal[best];
            at[RECALL * family] = (double)h / relevant;
            at[PRECISION * family] = (double)h / k;
            at[HITRATE * family] = h > 0;
            at[F1 * family] = 2.0 * h / (k + relevant);
            at[MRR * family] = h > 0 ? 1.0 / hits[0] : 0.0;
            at[MAP * family] = precisions / best;
        }
        while (right < found && hits[right] <= relevant)
            right++;
        out[(int64_t)N_FAMILIES * n_cuts * n_users + u] = (double)right / relevant;
    }
    free(wanted), free(discount), free(ideal), free(hits);
    return 0;
}
