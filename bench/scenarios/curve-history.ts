import { type FileDirent, fileDirent } from '../../src/base/objects/dirent.ts'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { chosenSizes, latency, measureCurve, repeat } from '../curve.ts'
import { numbered } from '../library-builder.ts'
import type { Scenario } from '../scenario.ts'

const SIZES = [100, 1000, 10_000, 100_000, 1_000_000]
const A_PAGE = 100
const EDITS_AT_ONCE = 1024
const EDITS_PER_BUILDER = 100_000
const CONTENTS = at('/contents')
const FILE = 'file'

/** How costs grow with the length of a history. Each commit gives one file the other one of two contents. */
export const curveHistory: Scenario = {
  name: 'curve-history',
  async run(context) {
    await using workspace = await context.workspace()
    const id = await workspace.prepare(async (builder): Promise<LibraryId> => {
      const made = await builder.newLibrary('History')
      await builder.addFiles(made, CONTENTS, 2, 'content')
      return made.info.id
    })
    const counts = { warmUp: context.size(10, 1), measured: context.size(50, 3) }
    return await measureCurve(context, workspace, {
      title: 'Length of a history',
      of: 'commits',
      sizes: chosenSizes(context, SIZES, 1000),
      async grow(size, before) {
        for (let from = before; from < size; from += EDITS_PER_BUILDER) {
          const end = Math.min(size, from + EDITS_PER_BUILDER)
          await workspace.prepare(async (builder) => {
            const library = await builder.openLibrary(id)
            const contents = await Promise.all([0, 1].map((n) => contentOf(library, n)))
            for (let n = from; n < end; n += EDITS_AT_ONCE) {
              const some = Math.min(EDITS_AT_ONCE, end - n)
              await Promise.all(Array.from({ length: some }, (_, k) => edit(library, n + k, contents)))
            }
            await builder.catchUp(library)
          })
        }
        await workspace.prepare(async (builder) => builder.settle(await builder.openLibrary(id)))
      },
      async measure(server, size) {
        const load = (path: string) =>
          server.load({
            connections: 1,
            warmUp: { count: counts.warmUp },
            measured: { count: counts.measured },
            request: { method: 'GET', path },
          })
        const v21 = `/api/v2.1/repos/${id}`
        const log = `${v21}/history/?per_page=${A_PAGE}&page=`
        const last = size / A_PAGE
        const [commit = '', earlier = ''] = await commitsOf(server, `${log}${last}`)
        const revisions = `${v21}/file/new_history/?path=/${FILE}&per_page=${A_PAGE}&page=`
        return [
          latency('first page of the log', await load(`${log}1`)),
          latency('last page of the log', await load(`${log}${last}`)),
          latency('changes of a commit', await load(`${v21}/commits/${commit}/`)),
          latency('list as of an old commit', await load(`${v21}/commits/${commit}/dir/?path=/`)),
          latency('revisions of a file', await load(`${revisions}1`)),
          latency(
            'restore a file',
            await repeat(server, counts, async (n) => {
              const form = { operation: 'revert', commit_id: n % 2 === 0 ? commit : earlier }
              const { status, text } = await server.client.post(`${v21}/file/?p=/${FILE}`, { form })
              if (status !== 200) throw new Error(`a file was not restored: ${status} ${text}`)
            }),
          ),
        ]
      },
    })
  },
}

async function contentOf(library: EditableLibrary, n: number): Promise<FileDirent> {
  const found = await library.tree.find(at(`${CONTENTS}/${numbered('content', n)}`))
  if (found?.kind !== 'file') throw new Error('a content is missing')
  return found
}

function edit(library: EditableLibrary, n: number, contents: readonly FileDirent[]) {
  const modifier = library.actor.email
  return library.commit(async (tree) => {
    const content = contents[n % contents.length]
    if (content !== undefined)
      await tree.put(ROOT, fileDirent({ ...content, name: FILE, mtime: n, modifier }))
    return { description: `Modified "${FILE}"`, result: undefined }
  })
}

/** The ids of the commits of a page of the log. */
async function commitsOf(server: BenchServer, path: string): Promise<string[]> {
  const { status, body, text } = await server.client.get(path)
  if (status !== 200) throw new Error(`no page of the log: ${status} ${text}`)
  return (body.data as { commit_id: string }[]).map(({ commit_id }) => commit_id)
}
