import type { AsideReply, AsideTask } from './aside.ts'
import type { Reader } from './database.ts'
import { openReader } from './open-reader.ts'

/** To be called by a module that Database.aside runs: what it does for whoever started it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The module knows what it is given.
export function serveAside<Input>(run: (reader: Reader, input: Input) => Promise<unknown>): void {
  // Whoever started it ends it: a terminal tells all its processes to stop, and a server that is killed tells none.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  process.once('message', ({ setting, input }: AsideTask) => {
    const perform = async (): Promise<AsideReply> => {
      try {
        await using reader = await openReader(setting)
        return { result: await run(reader, input as Input) }
      } catch (error) {
        return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
      }
    }
    void perform().then((reply) => process.send?.(reply))
  })
}
