import { fileDirent } from '../../src/base/objects/dirent.ts'
import { EMPTY_ID } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { remove } from '../../src/libraries/edits/entries.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { type LibraryBuilder, numbered } from '../library-builder.ts'
import { p50Row, type Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'

const A_PAGE = 100
const EDITS_AT_ONCE = 128

/** The first pages and deep pages of a long trash and of a long history. */
export const pages: Scenario = {
  name: 'pages',
  async run(context) {
    await using workspace = await context.workspace()
    const count = context.size(100_000, 1000)
    const trash = await workspace.prepare((builder) => makeTrash(builder, count))
    const history = await workspace.prepare((builder) => makeHistory(builder, count))
    const server = await workspace.serve()
    const last = count / A_PAGE
    const entries = count.toLocaleString('en-US')
    const rows: Row[] = []
    const read = async (what: string, path: string) => rows.push(await pageRow(context, server, what, path))
    const trashPath = `/api/v2.1/repos/${trash}/trash/?path=/`
    await read(`first page of a trash of ${entries}, p50`, trashPath)
    const cursor = await cursorAt(server, trashPath, last - 2)
    await read('a page near its end', `${trashPath}&scan_stat=${encodeURIComponent(cursor)}`)
    const trash2 = `/api/v2.1/repos/${trash}/trash2/?per_page=${A_PAGE}&page=`
    await read('its first page by number', `${trash2}1`)
    await read('a page in its middle by number', `${trash2}${last / 2}`)
    await read('its last page by number', `${trash2}${last}`)
    for (const version of ['api/v2.1', 'api2']) {
      const path = `/${version}/repos/${history}/history/?per_page=${A_PAGE}&page=`
      await read(`first page of a history of ${entries} (${version}), p50`, `${path}1`)
      await read('its last page', `${path}${last}`)
    }
    return rows
  },
}

/** `count` files in folders of 1,000, deleted folder by folder. */
async function makeTrash(builder: LibraryBuilder, count: number): Promise<string> {
  const made = await builder.newLibrary('Deleted')
  const names = Array.from({ length: 1000 }, (_, n) => numbered('file', n))
  for (let n = 0; n < count / names.length; n++) {
    const folder = at(`/${numbered('folder', n)}`)
    await builder.addFiles(made, folder, names.length, 'file')
    await remove(builder.services.core, made, folder, names)
  }
  await builder.catchUp(made)
  return made.info.id
}

/** `count` commits, each of which changes the time of one file. */
async function makeHistory(builder: LibraryBuilder, count: number): Promise<string> {
  const made = await builder.newLibrary('Long')
  for (let n = 0; n < count; n += EDITS_AT_ONCE) {
    const some = Math.min(EDITS_AT_ONCE, count - n)
    await Promise.all(Array.from({ length: some }, (_, k) => touch(made, n + k)))
  }
  await builder.catchUp(made)
  return made.info.id
}

function touch(library: EditableLibrary, mtime: number) {
  const modifier = library.actor.email
  return library.commit(async (tree) => {
    await tree.put(ROOT, fileDirent({ id: EMPTY_ID, name: 'file', mtime, size: 0, modifier }))
    return { description: 'Modified "file"', result: undefined }
  })
}

/** The cursor of a page after a number of others. */
async function cursorAt(server: BenchServer, path: string, pages: number): Promise<string> {
  let cursor = ''
  for (let n = 0; n < pages; n++) {
    const { body, status, text } = await server.client.get(`${path}&scan_stat=${encodeURIComponent(cursor)}`)
    if (status !== 200 || !body.more) throw new Error(`the trash ends after ${n} pages: ${status} ${text}`)
    cursor = String(body.scan_stat)
  }
  return cursor
}

async function pageRow(context: Context, server: BenchServer, what: string, path: string): Promise<Row> {
  const load = await server.load({
    connections: 1,
    warmUp: { count: context.size(20, 2) },
    measured: { count: context.size(200, 10) },
    request: { method: 'GET', path },
  })
  return p50Row(what, load, { target: { atMost: 25 } })
}
