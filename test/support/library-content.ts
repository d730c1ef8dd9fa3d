import { fileDirent } from '../../src/base/objects/dirent.ts'
import type { FileId, LibraryId } from '../../src/base/objects/ids.ts'
import { baseName, type LibraryPath, parentOf, parsePath, ROOT } from '../../src/base/paths/paths.ts'
import { createFile, makeFolder, removeOne, rename } from '../../src/libraries/edits/entries.ts'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'

/** Adds content to a library without the HTTP API. Each call creates one commit and returns its id. */
export function contentOf(server: TestServer, client: Client, id: string) {
  const { access, accounts, core } = server.running.services
  const open = async () =>
    (await access.open(await accounts.get(client.email), id as LibraryId)).editable(ROOT)
  const idOf = async (committed: Promise<{ library: { head: string } }>) => (await committed).library.head
  return {
    addFolder: async (path: string) => idOf(makeFolder(await open(), pathOf(path))),
    addFile: async (path: string) => idOf(createFile(await open(), pathOf(path))),
    /** A file whose content is elsewhere, or new content for one; `digit` makes its object id. */
    putFile: async (path: string, size: number, digit = '1') => {
      const library = await open()
      const description = `Modified "${baseName(pathOf(path))}"`
      return idOf(
        library.commit(async (tree) => {
          const [objectId, name] = [digit.repeat(40) as FileId, baseName(pathOf(path))]
          const entry = fileDirent({ id: objectId, name, mtime: tree.now, size, modifier: client.email })
          await tree.put(parentOf(pathOf(path)), entry)
          return { description, result: undefined }
        }),
      )
    },
    remove: async (path: string) => idOf(removeOne(core, await open(), pathOf(path))),
    rename: async (path: string, name: string) => idOf(rename(core, await open(), pathOf(path), name)),
  }
}

/** Makes the library read-only, as an administrator can. */
export async function makeReadOnly(server: TestServer, id: string): Promise<void> {
  await server.running.services.db.write((tx) => tx.run('update library set status = 1 where id = ?', id))
}

function pathOf(text: string): LibraryPath {
  const path = parsePath(text)
  if (path === undefined) throw new Error(`${text} is no path.`)
  return path
}
