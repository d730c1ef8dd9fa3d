import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { archiveFiles, holdContent } from '../support/archives.ts'
import { downloadedBytes } from '../support/browser.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'
import { PHONE, webSuite } from './support.ts'

describe('archives', () => {
  const suite = webSuite()

  it('are created in the background, several at once, and saved', async (t) => {
    const ann = await suite.server.signUp()
    const plans = await ann.createLibrary('Plans')
    await uploadFile(ann, plans, '/2026/summer.md', '# Summer')
    await uploadFile(ann, plans, '/a & b.txt', 'both')
    const notes = await ann.createLibrary('Notes')
    await uploadFile(ann, notes, '/note.txt', 'a note')
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const held = holdContent(t, suite.server)
    t.after(held.open)
    await download(page, 'Plans')
    await download(page, 'Notes')
    const tray = page.getByRole('region', { name: 'Archives' })
    await tray.getByRole('progressbar', { name: 'Plans.zip' }).waitFor()
    await tray.getByRole('progressbar', { name: 'Notes.zip' }).waitFor()
    await tray.getByText('0 of 2 files').waitFor()
    await tab.checkAccess()
    await tab.picture('archives')
    await page.getByRole('link', { name: 'Starred' }).click()
    const saved = [page.waitForEvent('download'), page.waitForEvent('download')]
    const both: Promise<Buffer>[] = []
    page.on('download', (one) => both.push(downloadedBytes(one)))
    held.open()
    await Promise.all(saved)
    await eventually(async () => assert.equal(both.length, 2))
    const files = new Map<string, string>()
    for (const archive of await Promise.all(both)) {
      for (const [name, bytes] of unzip(archive)) if (bytes) files.set(name, bytes.toString())
    }
    assert.deepEqual(Object.fromEntries(files), {
      '2026/summer.md': '# Summer',
      'a & b.txt': 'both',
      'note.txt': 'a note',
    })
    await tray.getByText('Download started').first().waitFor()
    await tray.getByRole('button', { name: 'Dismiss Plans.zip' }).click()
    await tray.getByText('Plans.zip').waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('are canceled without leftovers', async (t) => {
    const ann = await suite.server.signUp()
    const plans = await ann.createLibrary('Plans')
    await uploadFile(ann, plans, '/one.txt', 'one')
    const tab = await suite.openTab(t, ann, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const before = await archiveFiles(suite.server)
    const held = holdContent(t, suite.server)
    t.after(held.open)
    await download(page, 'Plans')
    await page.getByRole('progressbar', { name: 'Plans.zip' }).waitFor()
    await tab.picture('archives-phone-dark')
    const stopping = page.waitForRequest(/cancel-zip-task/)
    await page.getByRole('button', { name: 'Cancel Plans.zip' }).click()
    await page.getByText('Canceled').waitFor()
    await stopping
    held.open()
    await eventually(async () => assert.deepEqual(await archiveFiles(suite.server), before))
  })

  it('explain a failure', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/day.txt', 'one')
    await ann.createLibrary('Empty')
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await download(page, 'Empty')
    await page.getByText('Empty is empty. There is nothing to download.').waitFor()
    const tray = page.getByRole('region', { name: 'Archives' })
    await page.route('**/zip-task/', (route) => route.abort())
    await download(page, 'Plans')
    await tray.getByText('The archive could not be created: Cannot reach the server.').waitFor()
    await tab.checkAccess()
    await tab.picture('archives-failed')
    await tray.getByRole('button', { name: 'Dismiss Plans.zip' }).click()
    await tray.waitFor({ state: 'hidden' })
  })
})

async function download(page: Page, library: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${library}` }).click()
  await page.getByRole('menuitem', { name: 'Download' }).click()
}
