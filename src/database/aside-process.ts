import type { AsideJob, AsideReply, AsideTask } from './aside.ts'
import { openReader } from './open-reader.ts'

// Whoever started it ends it. A terminal tells all its processes to stop, and a server that was killed tells none.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

process.once('message', (task: AsideTask) => {
  void perform(task).then((reply) => process.send?.(reply))
})

async function perform({ setting, job, input }: AsideTask): Promise<AsideReply> {
  try {
    const { run } = (await import(job)) as AsideJob<unknown, unknown>
    await using reader = await openReader(setting)
    return { result: await run(reader, input) }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
