import type { Reader } from './database.ts'
import { openReader } from './open-reader.ts'
import type { SideResult, SideTask } from './side-process.ts'

/** Called by a module that Database.runInSideProcess starts, with the job to run. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The module knows the type of its input.
export function serveSideProcess<Input>(run: (reader: Reader, input: Input) => Promise<unknown>): void {
  // The server ends this process: a terminal signals all its processes, and a killed server disconnects.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  process.once('message', ({ setting, input }: SideTask) => {
    const perform = async (): Promise<SideResult> => {
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
