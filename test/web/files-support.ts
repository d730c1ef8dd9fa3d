import sharp from 'sharp'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { fileId } from '../../src/base/objects/file.ts'
import { type BlockId, parseLibraryId, sha1Hex } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { insertObjects, prepareFile } from '../../src/libraries/tree/object-store.ts'
import { Workspace } from '../api/folders-support.ts'
import type { Client } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import type { Tab } from './support.ts'

/** A picture of one colour. */
export function picture(r: number, g: number, b: number): Promise<Buffer> {
  return sharp({ create: { width: 480, height: 320, channels: 3, background: { r, g, b } } })
    .jpeg()
    .toBuffer()
}

/** A library with entries of every kind. */
export async function furnished(server: TestServer, client?: Client, name = 'Plans'): Promise<Workspace> {
  const space = await Workspace.make(server, client, name)
  await space.folder('/Archive')
  await space.folder('/Photos/2025')
  await uploadFile(space.client, space.id, '/report 10.txt', 'x'.repeat(2000))
  await uploadFile(space.client, space.id, '/report 9.txt', 'y'.repeat(50_000))
  await uploadFile(space.client, space.id, '/budget.xlsx', 'z'.repeat(1_400_000))
  await uploadFile(space.client, space.id, '/notes.md', '# Notes')
  await uploadFile(space.client, space.id, '/Photos/2025/beach.jpg', await picture(40, 120, 190))
  await uploadFile(space.client, space.id, '/Photos/hill.jpg', await picture(90, 150, 60))
  return space
}

/**
 * Adds `count` files to the root of a library in one commit, directly through the core. They have no blocks: they can be
 * listed, renamed and deleted, but not downloaded.
 */
export async function addMany(
  server: TestServer,
  space: Workspace,
  count: number,
  nameOf: (n: number) => string,
): Promise<void> {
  const { access, accounts } = server.running.services
  const account = await accounts.findByLogin(space.client.email)
  const id = parseLibraryId(space.id)
  if (account === undefined || id === undefined) throw new Error('there is no such library')
  const library = (await access.open(account, id)).editable(ROOT)
  const files = Array.from({ length: count }, (_, n) => {
    const object = { blockIds: [sha1Hex(Buffer.from(`block ${n}`)) as BlockId], size: 1000 + n }
    return { id: fileId(object), object, name: nameOf(n) }
  })
  await library.commit(async (tree) => {
    for (const { id, object, name } of files) {
      const mtime = tree.now
      await tree.put(ROOT, fileDirent({ id, name, mtime, size: object.size, modifier: account.email }))
    }
    const rows = files.map(({ id, object }) => prepareFile(id, object))
    return {
      description: `Added ${count} files`,
      result: undefined,
      also: (tx) => insertObjects(tx, library.info.key, rows),
    }
  })
}

/** The list of a folder, as a user sees it. */
export class PagedTable {
  readonly tab: Tab

  constructor(tab: Tab) {
    this.tab = tab
  }

  get grid() {
    return this.tab.page.getByRole('grid', { name: 'Files and folders' })
  }

  /** A row by its visible name. */
  row(name: string) {
    return this.grid.getByRole('row').filter({ has: this.tab.page.getByRole('link', { name, exact: true }) })
  }

  /** A cell of a row without a link or a button. A click there selects the entry. */
  cell(name: string) {
    return this.row(name).getByRole('gridcell').nth(3)
  }

  link(name: string) {
    return this.grid.getByRole('link', { name, exact: true })
  }

  async names(): Promise<string[]> {
    return this.grid.locator('[data-part=name]').allTextContents()
  }

  async chosen(): Promise<string[]> {
    return this.grid.locator('[aria-selected=true] [data-part=name]').allTextContents()
  }

  /** Waits until the list shows exactly these. */
  async shows(names: readonly string[]): Promise<void> {
    await this.tab.page.waitForFunction((wanted) => {
      const { document } = globalThis as unknown as {
        document: { querySelectorAll(selector: string): Iterable<{ textContent: string }> }
      }
      const found = [...document.querySelectorAll('[role=grid] [data-part=name]')]
      return JSON.stringify(found.map((one) => one.textContent)) === wanted
    }, JSON.stringify(names))
  }

  async menu(name: string, entry: string): Promise<void> {
    await this.row(name)
      .getByRole('button', { name: `More actions for ${name}` })
      .click()
    await this.tab.page.getByRole('menuitem', { name: entry }).click()
  }
}
