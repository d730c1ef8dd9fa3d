import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { namesIn } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'
import { dragPaths, dropFiles } from './upload-support.ts'

describe('drops from the desktop', () => {
  const suite = webSuite()

  it('on a folder row, a tile or a breadcrumb upload into that folder', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}?p=/Photos`)
    await list.link('2025').waitFor()
    const uploaded = (count: number) =>
      page
        .getByRole('heading', { level: 2, name: `${count} item${count === 1 ? '' : 's'} uploaded` })
        .waitFor()
    await dropFiles(page, [{ name: 'row.txt', text: 'row' }], list.row('2025'), { leaveAt: 'dragover' })
    assert.ok((await list.row('2025').getAttribute('class'))?.includes('files-drop'))
    assert.equal(await page.getByText('Drop to upload here').count(), 0)
    await tab.picture('uploads-drop-row')
    await dropFiles(page, [{ name: 'row.txt', text: 'row' }], list.row('2025'))
    await uploaded(1)
    await dropFiles(page, [{ name: 'file.txt', text: 'file' }], list.row('hill.jpg'))
    await uploaded(2)
    const crumb = page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Plans' })
    await dropFiles(page, [{ name: 'crumb.txt', text: 'crumb' }], crumb)
    await uploaded(3)
    await page.getByRole('button', { name: 'Show as grid' }).click()
    const tile = list.grid.getByRole('gridcell').filter({ hasText: '2025' })
    await dropFiles(page, [{ name: 'tile.txt', text: 'tile' }], tile)
    await uploaded(4)
    assert.deepEqual(await namesIn(space.client, space.id, '/Photos/2025'), [
      'beach.jpg',
      'row.txt',
      'tile.txt',
    ])
    assert.deepEqual(await namesIn(space.client, space.id, '/Photos'), ['2025/', 'file.txt', 'hill.jpg'])
    assert.ok((await namesIn(space.client, space.id)).includes('crumb.txt'))
    assert.deepEqual(tab.complaints, [])
  })

  it('show a large folder at once, and upload while the scan goes on', async (t) => {
    const person = await suite.server.signUp()
    const library = await person.createLibrary('Photos')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const root = await mkdtemp(path.join(os.tmpdir(), 'carrel-drop-'))
    t.after(() => rm(root, { recursive: true, force: true }))
    await mkdir(path.join(root, 'trip'))
    const names = Array.from({ length: 250 }, (_, n) => `${n}.txt`)
    for (const name of names) await writeFile(path.join(root, 'trip', name), name)
    // Holds the scan back after the first entries. The class of directory readers has no global name.
    await page.addInitScript(() => {
      interface Reader {
        readEntries(...args: unknown[]): void
      }
      const page = globalThis as unknown as {
        DataTransferItem: { prototype: { webkitGetAsEntry(): { createReader(): Reader } } }
        goOn: () => void
      }
      const held = new Promise<void>((resolve) => {
        page.goOn = resolve
      })
      const { prototype } = page.DataTransferItem
      // oxlint-disable-next-line typescript/unbound-method -- called with the right `this` below
      const getEntry = prototype.webkitGetAsEntry
      prototype.webkitGetAsEntry = function () {
        const entry = getEntry.call(this)
        const readers = Object.getPrototypeOf(entry.createReader()) as Reader
        // oxlint-disable-next-line typescript/unbound-method -- called with the right `this` below
        const read = readers.readEntries
        let calls = 0
        readers.readEntries = function (...args) {
          calls += 1
          if (calls === 1) read.apply(this, args)
          else void held.then(() => read.apply(this, args))
        }
        return entry
      }
    })
    await tab.go(`/library/${library}`)
    await dragPaths(page, [path.join(root, 'trip')])
    const tray = page.getByRole('region', { name: 'Uploads' })
    await tray.getByRole('heading', { level: 2, name: 'Scanning…' }).waitFor()
    await tray.getByText('100 files found').waitFor()
    await tray.getByRole('img', { name: 'Uploaded' }).first().waitFor()
    assert.equal((await namesIn(person, library, '/trip')).length, 100)
    await tab.picture('uploads-scanning')
    await page.evaluate('goOn()')
    await tray.getByRole('heading', { level: 2, name: '250 items uploaded' }).waitFor()
    assert.deepEqual(await namesIn(person, library, '/trip'), names.toSorted())
    assert.deepEqual(tab.complaints, [])
  })
})
