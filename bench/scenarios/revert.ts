import { ROOT } from '../../src/base/paths/paths.ts'
import { remove } from '../../src/libraries/edits/entries.ts'
import { at } from '../../test/support/core.ts'
import { numbered } from '../library-builder.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import { median } from '../median.ts'
import type { Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const A_FOLDER = 1000
const ROUNDS = 20

/** Reverts of a library to before half of it was deleted, alternating with reverting that. */
export const revert: Scenario = {
  name: 'revert',
  async run(context) {
    await using workspace = await context.workspace()
    const made = []
    for (const full of [1000, 100_000]) {
      const folders = context.size(full / A_FOLDER, 2)
      const library = await workspace.prepare(async (builder) => {
        const library = await builder.newLibrary('Reverted')
        for (let n = 0; n < folders; n++) {
          await builder.addFiles(library, at(`/${numbered('folder', n)}`), A_FOLDER, 'file')
        }
        const { info: whole } = await builder.openLibrary(library.info.id)
        const half = Array.from({ length: Math.ceil(folders / 2) }, (_, n) => numbered('folder', n))
        await remove(builder.services.core, library, ROOT, half)
        await builder.catchUp(library)
        const { info } = await builder.openLibrary(library.info.id)
        return { id: info.id, commits: [whole.head, info.head], files: whole.fileCount }
      })
      made.push(library)
    }
    const server = await workspace.serve()
    const rows: Row[] = []
    for (const { id, commits, files } of made) {
      const { result: times, flushesPerSecond } = await withFlushRate(
        workspace.folder,
        context.limitMs,
        async () => {
          const times = []
          for (let n = 0; n < context.size(ROUNDS, 2); n++) {
            const path = `/api/v2.1/repos/${id}/commits/${commits[n % 2]}/revert/`
            times.push(
              await server.meter(async () => {
                const began = performance.now()
                const { status, text } = await server.client.post(path)
                if (status !== 200) throw new Error(`it was not reverted: ${status} ${text}`)
                return { ms: performance.now() - began }
              }),
            )
          }
          return times
        },
      )
      const { ms, usage } = median(times, (one) => one.ms)
      rows.push({
        what: `revert of a library of ${files.toLocaleString('en-US')} files`,
        value: ms,
        unit: 'ms',
        usage,
        limit: { value: 1000 / flushesPerSecond, of: 'one sync' },
        target: { atMost: 10 },
      })
    }
    return rows
  },
}
