import assert from 'node:assert/strict'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { Client } from '../support/client.ts'
import { eventually, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { webSuite } from './support.ts'
import {
  dragPaths,
  dropFiles,
  holdLaterChunks,
  madeBytes,
  networkOf,
  rangesSent,
  trayTotal,
} from './upload-support.ts'

const MB = 1_000_000
/** More than the browser's database may store. */
const LARGE = 52 * MB
const title = (page: Page, text: string | RegExp) => page.getByRole('heading', { level: 2, name: text })

describe('interrupted uploads', () => {
  const suite = webSuite()

  async function setUp() {
    const person = await suite.server.signUp()
    return { person, library: await person.createLibrary('Films') }
  }

  /** Resolves with the number of stored bytes once the server has some of a file. */
  async function untilStored(person: Client, library: string, name: string): Promise<number> {
    let stored = 0
    await eventually(async () => {
      const query = { parent_dir: '/', file_name: name }
      const reply = await person.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)
      stored = reply.body.uploadedBytes
      assert.ok(stored > 0)
    })
    return stored
  }

  it('resume at the stored offset once the network is back', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    const network = await networkOf(page)
    const chunks = await holdLaterChunks(page)
    const ranges = rangesSent(page)
    await dropFiles(page, [{ name: 'film.bin', size: 30 * MB }])
    await chunks.untilHeld()
    // The next chunk is interrupted in its middle.
    await network.slow(MB)
    chunks.letGo()
    await untilStored(person, library, 'film.bin')
    await network.cut()
    await page.getByText('Connection lost. Uploads will resume').waitFor()
    await tab.picture('uploads-cut')
    const stored = await untilStored(person, library, 'film.bin')
    const before = ranges.length
    await network.restore()
    await title(page, '1 item uploaded').waitFor()
    assert.ok(ranges[before]?.startsWith(`bytes ${stored}-`), `${ranges.join(', ')} after ${stored}`)
    assert.deepEqual(await namesIn(person, library), ['film.bin'])
    const bytes = await storedBytes(suite.server, library, '/film.bin')
    assert.ok(bytes.equals(madeBytes(30 * MB)))
  })

  it('are not stored twice when only the response was lost', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    let lost = 0
    await page.route('**/upload-api/**', async (route) => {
      if (lost > 0) return route.continue()
      lost += 1
      // The server receives all of it, and the browser gets no response.
      await route.fetch()
      return route.abort('connectionreset')
    })
    await dropFiles(page, [
      { name: 'a.txt', text: 'A' },
      { name: 'b.txt', text: 'B' },
    ])
    await title(page, '2 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['a.txt', 'b.txt'])
    assert.equal(lost, 1)
  })

  it('use a new link when theirs has expired', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    let given = 0
    await page.route('**/upload-link/**', (route) => {
      given += 1
      if (given > 1) return route.continue()
      const gone = '/seafhttp/upload-api/00000000-0000-4000-8000-000000000000'
      return route.fulfill({ json: `${suite.server.url}${gone}` })
    })
    await dropFiles(page, [{ name: 'a.txt', text: 'A' }])
    await title(page, '1 item uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['a.txt'])
  })

  it('resume after a reload, by chunks', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    page.on('dialog', (dialog) => void dialog.accept())
    await tab.go(`/library/${library}`)
    const chunks = await holdLaterChunks(page)
    await dropFiles(page, [
      { name: 'film.bin', size: 40 * MB },
      { name: 'paused.txt', text: 'later' },
    ])
    await chunks.untilHeld()
    await page.waitForFunction(isKept, { name: 'film.bin', withFile: true })
    const stored = await untilStored(person, library, 'film.bin')
    const ranges = rangesSent(page)
    await page.reload()
    chunks.letGo()
    await title(page, /uploaded/).waitFor()
    const start = Number(/\d+/.exec(ranges.at(-1) ?? '')?.[0])
    assert.ok(start >= stored, `${ranges.join(', ')} after ${stored}`)
    assert.deepEqual(await namesIn(person, library), ['film.bin', 'paused.txt'])
    const bytes = await storedBytes(suite.server, library, '/film.bin')
    assert.ok(bytes.equals(madeBytes(40 * MB)))
    // Nothing is left for the next visit.
    await page.waitForFunction(
      () => !('carrel.uploads' in (globalThis as { localStorage?: object }).localStorage!),
    )
  })

  it('stay with their tab while it is open, and are taken over when it is closed', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    const chunks = await holdLaterChunks(page)
    await dropFiles(page, [{ name: 'film.bin', size: 40 * MB }])
    await chunks.untilHeld()
    await page.waitForFunction(isKept, { name: 'film.bin', withFile: true })
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByRole('navigation', { name: 'Main' }).waitFor()
    await other.waitForFunction(waitsForVisits, 1)
    assert.equal(await other.getByRole('region', { name: 'Uploads' }).count(), 0)
    const ranges = rangesSent(other)
    await page.close()
    await title(other, '1 item uploaded').waitFor()
    assert.ok(!ranges[0]?.startsWith('bytes 0-'), ranges[0])
    assert.deepEqual(await namesIn(person, library), ['film.bin'])
    assert.ok((await storedBytes(suite.server, library, '/film.bin')).equals(madeBytes(40 * MB)))
  })

  it('keep the account of 1,000 files when the page is reloaded in the middle', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.accept()
    })
    await tab.go(`/library/${library}`)
    // Browsers ask only people who have done something on the page.
    await page.getByRole('heading', { name: 'Films' }).click()
    const stored = page.waitForResponse((response) => response.url().includes('/upload-api/'))
    await dropFiles(
      page,
      Array.from({ length: 1000 }, (_, n) => ({ name: `f${n}.bin`, size: 4096 })),
    )
    await stored
    await eventually(async () => assert.equal(await trayTotal(page), 1000))
    await page.reload()
    assert.deepEqual(asked, ['beforeunload'])
    await title(page, '1,000 items uploaded').waitFor()
    assert.equal(await trayTotal(page), 1000)
    assert.equal((await namesIn(person, library)).length, 1000)
  })

  it('show failures until they are dismissed, also after a reload', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const admin = await suite.server.admin()
    const quota = (megabytes: number) =>
      admin.put(`/api/v2.1/admin/users/${person.email}/`, { json: { quota_total: megabytes } })
    await uploadFile(person, library, '/before.bin', Buffer.alloc(MB / 2))
    assert.equal((await quota(1)).status, 200)
    await tab.go(`/library/${library}`)
    await dropFiles(page, [
      { name: 'a.bin', size: 0.9 * MB },
      { name: 'b.bin', size: 0.95 * MB },
      { name: 'c.txt', text: 'fits' },
    ])
    await title(page, '2 items were not uploaded').waitFor()
    await page.reload()
    await title(page, '2 items were not uploaded').waitFor()
    await page.getByText('1 item uploaded').waitFor()
    await page.getByText('Not enough storage space.').first().waitFor()
    await page.getByRole('button', { name: 'Remove b.bin from the list' }).click()
    await title(page, '1 item was not uploaded').waitFor()
    assert.equal((await quota(100)).status, 200)
    await page.getByRole('button', { name: 'Try again' }).click()
    await title(page, '2 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['a.bin', 'before.bin', 'c.txt'])
  })

  it('are said not to have begun if their part of the app cannot be loaded', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await page.route(/browser-engine/, (route) => route.abort())
    await tab.go(`/library/${library}`)
    await dropFiles(page, [{ name: 'a.txt', text: 'A' }])
    await page.getByText('The files were not uploaded').waitFor()
    assert.equal(await page.getByRole('region', { name: 'Uploads' }).count(), 0)
  })

  /** Two files on disk that differ only in content and time. */
  async function largeFiles(t: TestContext): Promise<[string, string]> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-drop-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const files: [string, string] = [path.join(folder, 'large.bin'), path.join(folder, 'other.bin')]
    for (const [index, file] of files.entries()) {
      await writeFile(file, index === 0 ? madeBytes(LARGE) : Buffer.alloc(LARGE))
      await utimes(file, 1_700_000_000 + index, 1_700_000_000 + index)
    }
    return files
  }

  it('reopen a large file after a reload if the browser supports it', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const [large] = await largeFiles(t)
    page.on('dialog', (dialog) => void dialog.accept())
    await tab.go(`/library/${library}`)
    const chunks = await holdLaterChunks(page)
    await dragPaths(page, [large])
    await chunks.untilHeld()
    await page.waitForFunction(isKept, { name: 'large.bin', withFile: false })
    const ranges = rangesSent(page)
    await page.reload()
    chunks.letGo()
    await title(page, '1 item uploaded').waitFor()
    assert.ok(!ranges[0]?.startsWith('bytes 0-'), ranges[0])
    assert.ok((await storedBytes(suite.server, library, '/large.bin')).equals(madeBytes(LARGE)))
  })

  it('ask for a file again that was too large to be stored', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const [large, other] = await largeFiles(t)
    page.on('dialog', (dialog) => void dialog.accept())
    await tab.go(`/library/${library}`)
    const chunks = await holdLaterChunks(page)
    await dropFiles(page, [{ name: 'large.bin', size: LARGE }])
    await chunks.untilHeld()
    await page.waitForFunction(isKept, { name: 'large.bin', withFile: false })
    await page.reload()
    chunks.letGo()
    await page.getByText('Select this file again to continue').waitFor()
    await tab.checkAccess()
    await tab.picture('uploads-choose-again')
    const choose = async (file: string) => {
      const asked = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Select files again' }).click()
      await (await asked).setFiles(file)
    }
    await choose(other)
    await page.getByText('This is a different file').waitFor()
    const ranges = rangesSent(page)
    await choose(large)
    await title(page, '1 item uploaded').waitFor()
    assert.ok(!ranges[0]?.startsWith('bytes 0-'), ranges[0])
    assert.ok((await storedBytes(suite.server, library, '/large.bin')).equals(madeBytes(LARGE)))
  })
})

/** In the page: whether it waits for the end of so many other visits. */
async function waitsForVisits(count: number): Promise<boolean> {
  const { navigator } = globalThis as unknown as {
    navigator: { locks: { query(): Promise<{ pending: object[] }> } }
  }
  return (await navigator.locks.query()).pending.length === count
}

/** In the page: whether the browser's database has the started upload and its file. */
function isKept(wanted: { name: string; withFile: boolean }): Promise<boolean> {
  interface Requested<T> {
    readonly result: T
    onsuccess: () => void
  }
  interface Store<T> {
    getAll(): Requested<T[]>
    get(key: string): Requested<T | undefined>
  }
  interface Database {
    transaction(stores: string[]): { objectStore<T>(store: string): Store<T> }
  }
  const { indexedDB } = globalThis as unknown as { indexedDB: { open(name: string): Requested<Database> } }
  return new Promise((resolve) => {
    const opening = indexedDB.open('carrel-uploads')
    opening.onsuccess = () => {
      const transaction = opening.result.transaction(['uploads', 'sources'])
      const reading = transaction
        .objectStore<{ key: string; name: string; isBegun: boolean }>('uploads')
        .getAll()
      reading.onsuccess = () => {
        const found = reading.result.find(({ name }) => name === wanted.name)
        const source = transaction.objectStore<{ file?: object }>('sources').get(found?.key ?? '')
        source.onsuccess = () =>
          resolve(found?.isBegun === true && (source.result?.file !== undefined || !wanted.withFile))
      }
    }
  })
}
