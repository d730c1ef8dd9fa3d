import type { Registry } from 'prom-client'
import { registerCounters, type StateMetric } from '../../base/metrics.ts'

/** Counts edits of all libraries since the start of this process. */
export class CommitStatistics {
  /** Edits that were applied to a tree, again after a conflict. */
  applied = 0
  /** Edits that are committed, and those that turned out to change nothing. */
  committed = 0
  /** Transactions that committed them. */
  groups = 0
  /** When each edit came that is not answered, the oldest first. */
  readonly unanswered = new Map<object, number>()

  /** How long the oldest edit has waited for its answer. */
  get oldestWaitMs(): number {
    for (const since of this.unanswered.values()) return performance.now() - since
    return 0
  }
}

const counters: readonly StateMetric<CommitStatistics>[] = [
  {
    name: 'carrel_edits_applied_total',
    help: 'Edits applied to the tree of a library, counted again if another node moved its head meanwhile',
    of: ({ applied }) => applied,
  },
  {
    name: 'carrel_edits_committed_total',
    help: 'Edits committed, with those that changed nothing',
    of: ({ committed }) => committed,
  },
  {
    name: 'carrel_edit_groups_total',
    help: 'Transactions in which edits were committed',
    of: ({ groups }) => groups,
  },
]

/** Adds the counters of edits to the metrics of the server. */
export function registerCommitMetrics(registry: Registry, statistics: CommitStatistics): void {
  registerCounters(registry, counters, () => statistics)
}
