import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'
import { makePages } from './viewer-support.ts'

describe('the viewer of documents', () => {
  const suite = webSuite()

  async function start(
    t: TestContext,
    files: Record<string, Uint8Array | string>,
    more: BrowserContextOptions = {},
  ) {
    const space = await Workspace.make(suite.server)
    for (const [path, bytes] of Object.entries(files)) await uploadFile(space.client, space.id, path, bytes)
    const tab = await suite.openTab(t, space.client, more)
    const open = (path: string) => tab?.go(`/view/${space.id}?p=${encodeURIComponent(path)}`)
    return { space, tab, open }
  }

  it('searches a PDF, with a count and highlights', async (t) => {
    const lines = Array.from({ length: 30 }, (_, index) => `Leaf ${index + 1} is a leaf of the book`)
    const { tab, open } = await start(t, { '/book.pdf': makePages(lines) })
    if (tab === undefined) return
    const { page } = tab
    const highlighted = (name: string) => page.evaluate(`[...(CSS.highlights.get('${name}') ?? [])].join()`)
    await open('/book.pdf')
    await page.getByText('Leaf 1 is a leaf').waitFor()
    await page.keyboard.press('Control+f')
    const field = page.getByRole('searchbox', { name: 'Search in document' })
    await field.fill('LEAF')
    await page.getByText('1 of 60', { exact: true }).waitFor()
    await eventually(async () => assert.equal(await highlighted('pdf-match-active'), 'Leaf'))
    await tab.checkAccess()
    await tab.picture('viewer-pdf-search')
    await page.keyboard.press('Shift+Enter')
    await page.getByText('60 of 60', { exact: true }).waitFor()
    await page.getByText('Leaf 30 is a leaf').waitFor()
    await eventually(async () => assert.equal(await highlighted('pdf-match-active'), 'leaf'))
    await field.fill('leaf 7 is')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await page.getByText('Leaf 7 is a leaf').waitFor()
    await eventually(async () => assert.equal(await highlighted('pdf-match-active'), 'Leaf 7 is'))
    await field.fill('no such words')
    await page.getByText('Not found').waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('shows thumbnails of the pages of a PDF, rotates, fits and prints it', async (t) => {
    const lines = Array.from({ length: 12 }, (_, index) => `This is leaf ${index + 1}`)
    const { tab, open } = await start(t, { '/book.pdf': makePages(lines) })
    if (tab === undefined) return
    const { page } = tab
    await open('/book.pdf')
    await page.getByText('This is leaf 1', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Page thumbnails' }).click()
    const thumbnails = page.getByRole('navigation', { name: 'Page thumbnails' })
    await thumbnails.getByRole('button', { name: 'Go to page 3' }).click()
    await thumbnails.locator('[aria-current="page"]').getByText('3', { exact: true }).waitFor()
    await page.getByText('This is leaf 3', { exact: true }).waitFor()
    await tab.checkAccess()
    await tab.picture('viewer-pdf-thumbnails')

    const first = page.getByRole('region', { name: 'Page 3', exact: true })
    const upright = await first.boundingBox()
    assert.ok(upright !== null && upright.height > upright.width)
    await page.getByRole('region', { name: 'Pages of book.pdf' }).focus()
    await page.keyboard.press('r')
    await eventually(async () => {
      const box = await first.boundingBox()
      assert.ok(box !== null && box.width > box.height)
    })
    // The text layer lies within the rotated page, along its right side.
    await eventually(async () => {
      const [sheet, text] = [
        await first.boundingBox(),
        await first.getByText('This is leaf 3', { exact: true }).boundingBox(),
      ]
      assert.ok(sheet !== null && text !== null && text.height > text.width)
      assert.ok(text.x > sheet.x + sheet.width / 2 && text.x + text.width <= sheet.x + sheet.width + 1)
    })
    await tab.picture('viewer-pdf-rotated')
    await page.getByRole('button', { name: 'Fit to page' }).click()
    await page.getByRole('button', { name: 'Fit to width' }).waitFor()

    await page.evaluate(
      `globalThis.print = () => { globalThis.printed = document.querySelectorAll('body > .pdf-print > img').length }`,
    )
    await page.keyboard.press('Control+p')
    await eventually(async () => assert.equal(await page.evaluate('globalThis.printed'), 12))
    await page.emulateMedia({ media: 'print' })
    await page.locator('body > .pdf-print > img').first().waitFor()
    await tab.picture('viewer-pdf-print')
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    await page.locator('.pdf-print').waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('has the tools of a PDF on a phone', async (t) => {
    const { tab, open } = await start(t, { '/book.pdf': makePages(['One', 'Two']) }, PHONE)
    if (tab === undefined) return
    const { page } = tab
    await open('/book.pdf')
    await page.getByText('One', { exact: true }).waitFor()
    await page.getByRole('toolbar').getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('button', { name: 'Search in document' }).click()
    await page.getByRole('searchbox', { name: 'Search in document' }).fill('two')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    await fitsWidth(page)
    await tab.checkAccess()
    await tab.picture('viewer-pdf-phone')
    assert.deepEqual(tab.complaints, [])
  })
})
