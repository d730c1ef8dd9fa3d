import { CarrelError } from '../../sdk/src/index.ts'
import { EXIT } from './client-error.ts'
import { failureOf } from './session.ts'
import { note } from './terminal.ts'

/** An item that failed while others went on. */
interface Failure {
  readonly item: string
  readonly error: string
}

/** Failures of single items. The command goes on and reports them by its exit code. */
export class Failures {
  readonly list: Failure[] = []

  add(item: string, error: unknown): void {
    if (isFatal(error)) throw error
    const { sentence } = failureOf(error)
    this.list.push({ item, error: sentence })
    note(`${item}: ${sentence}`)
  }

  get exitCode(): number {
    return this.list.length === 0 ? EXIT.ok : EXIT.partial
  }
}

/** Errors that all other items would have, too. */
function isFatal(error: unknown): boolean {
  if (error instanceof CarrelError) {
    return ['unauthorized', 'unreachable', 'busy', 'no-space', 'password-needed'].includes(error.kind)
  }
  const { exitCode, code } = error as { exitCode?: number; code?: string }
  const isOver = exitCode === EXIT.interrupted || exitCode === EXIT.unreachable
  return isOver || code === 'ENOSPC' || code === 'EROFS'
}

/** Runs `work` on items, up to `limit` at a time. The first error stops it; started work is awaited. */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failed: { error: unknown }[] = []
  try {
    for await (const item of items) {
      const one = work(item)
        .catch((error: unknown) => void failed.push({ error }))
        .finally(() => running.delete(one))
      running.add(one)
      if (running.size >= limit) await Promise.race(running)
      if (failed.length > 0) break
    }
  } finally {
    await Promise.all(running)
  }
  const [first] = failed
  if (first !== undefined) throw first.error
}
