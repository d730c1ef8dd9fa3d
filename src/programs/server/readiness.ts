import { setTimeout as wait } from 'node:timers/promises'
import type { CommitStatistics } from '../../libraries/commits/index.ts'
import { type Database, waitLimits } from '../../platform/database/index.ts'
import type { Readiness } from '../../platform/http/index.ts'
import type { DiskHealth } from './disk-health.ts'

/** A check that takes longer than this has failed, so that `/readyz` answers within a second whatever hangs. */
const PATIENCE_MS = 900
/** What is known of another service is used again for this long. */
const FRESH_MS = 5000

/** Whether the server can serve. A full disk is shown but not refused: behind a load balancer, deleting would otherwise be impossible. */
export async function checkReadiness(
  db: Pick<Database, 'ping'>,
  disk: Pick<DiskHealth, 'state'>,
  blocks: Pick<Reachability, 'check'> | undefined,
  edits: Pick<CommitStatistics, 'oldestWaitMs'>,
): Promise<Readiness> {
  const [database, folder, isReachable] = await Promise.all([
    inTime(
      db.ping().then(
        () => 'ok',
        () => 'unreachable',
      ),
      'unresponsive',
    ),
    inTime<string>(disk.state(), 'unresponsive'),
    blocks?.check() ?? true,
  ])
  const checks = {
    database,
    disk: folder,
    // Long before clients are refused, which may be those of another node.
    writers: edits.oldestWaitMs < waitLimits.requestMs / 2 ? 'ok' : 'stuck',
    ...(blocks && { blocks: isReachable ? 'ok' : 'unreachable' }),
  }
  const wrong = Object.entries(checks).find(([, state]) => state !== 'ok' && state !== 'full')
  if (wrong === undefined) return { ok: true, checks }
  const [name, state] = wrong
  return { ok: false, checks, reason: REASONS[name] ?? `${NAMES[name] ?? name} is ${state}.` }
}

const NAMES: Readonly<Record<string, string>> = {
  database: 'The database',
  disk: 'The disk of the data folder',
  blocks: 'The block store',
}

const REASONS: Readonly<Record<string, string>> = {
  writers: 'Changes of libraries wait for the database.',
}

function inTime<T>(check: Promise<T>, otherwise: T): Promise<T> {
  return Promise.race([check, wait(PATIENCE_MS, otherwise, { ref: false })])
}

/** Whether another service can be reached. A check that takes too long counts as failed until it ends. */
export class Reachability {
  readonly #reach: () => Promise<void>
  #checking: Promise<boolean> | undefined
  #last = { isReachable: false, atMs: Number.NEGATIVE_INFINITY }

  constructor(reach: () => Promise<void>) {
    this.#reach = reach
  }

  async check(): Promise<boolean> {
    if (performance.now() - this.#last.atMs < FRESH_MS) return this.#last.isReachable
    this.#checking ??= this.#checkNow().finally(() => (this.#checking = undefined))
    return Promise.race([this.#checking, wait(PATIENCE_MS, false, { ref: false })])
  }

  async #checkNow(): Promise<boolean> {
    const isReachable = await this.#reach().then(
      () => true,
      () => false,
    )
    this.#last = { isReachable, atMs: performance.now() }
    return isReachable
  }
}
