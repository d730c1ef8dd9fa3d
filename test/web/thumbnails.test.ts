import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { shareLink } from '../api/links-support.ts'
import { coloredPdf, mp3With, packageWith, svgOf } from '../support/preview-files.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { webSuite } from './support.ts'
import { makePicture, recordFilm } from './viewer-support.ts'

/** Answers the first requests for thumbnails like a busy server. */
async function keepBusy(page: Page, pattern: RegExp, times: number): Promise<() => number> {
  let asked = 0
  await page.route(pattern, async (route) => {
    asked += 1
    if (asked > times) return route.continue()
    const headers = { 'Retry-After': '1' }
    return route.fulfill({ status: 503, headers, json: { error_msg: 'The server is busy.' } })
  })
  return () => asked
}

/** Waits until an image is shown. */
function shown(page: Page): Promise<unknown> {
  return page.waitForFunction(() => {
    const { document } = globalThis as unknown as {
      document: { querySelectorAll(selector: string): Iterable<{ naturalWidth: number }> }
    }
    const images = [...document.querySelectorAll('[role=grid] img, .thumb img')]
    return images.some(({ naturalWidth }) => naturalWidth > 0)
  })
}

describe('thumbnails of a busy server', () => {
  const suite = webSuite()

  async function withPicture(): Promise<Workspace> {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/hill.jpg', await makePicture('#3366cc'))
    return space
  }

  it('are requested again by the app', async (t) => {
    const space = await withPicture()
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const asked = await keepBusy(tab.page, /\/thumbnail\//, 2)
    await tab.go(`/library/${space.id}`)
    await shown(tab.page)
    assert.equal(asked(), 3)
  })

  it('are shown in rows and tiles, for more than images', async (t) => {
    const space = await withPicture()
    await uploadFile(space.client, space.id, '/drawing.svg', svgOf('#3366cc'))
    await uploadFile(space.client, space.id, '/paper.pdf', coloredPdf('0.2 0.4 0.8'))
    await uploadFile(space.client, space.id, '/song.mp3', mp3With(await makePicture('#3366cc')))
    await uploadFile(space.client, space.id, '/plain.docx', packageWith('a.xml', Buffer.from('<a/>')))
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await uploadFile(space.client, space.id, '/film.webm', await recordFilm(page))
    let documents = 0
    page.on('request', (request) => {
      if (request.url().includes('plain.docx') && request.url().includes('thumbnail')) documents += 1
    })
    await tab.go(`/library/${space.id}`)
    const names = ['hill.jpg', 'drawing.svg', 'paper.pdf', 'song.mp3', 'film.webm']
    for (const name of names) await page.getByRole('row', { name }).locator('img').waitFor()
    await tab.picture('thumbnails-rows')
    assert.equal(await page.getByRole('row', { name: 'plain.docx' }).locator('img').count(), 0)
    // A document without a preview is not asked for again.
    await page.getByRole('button', { name: 'Show as grid' }).click()
    for (const name of names) await page.getByRole('gridcell', { name }).locator('img').waitFor()
    await tab.picture('thumbnails-tiles')
    assert.ok(documents <= 2, `${documents} requests`)
  })

  it('of portrait pictures leave the name readable', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/tower.jpg', await makePicture('#3366cc', 600, 1600))
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    await tab.go(`/library/${space.id}`)
    await tab.page.getByRole('button', { name: 'Show as grid' }).click()
    // The tile is there before its picture, which is hidden until it is loaded.
    await eventually(async () => {
      const picture = await tab.page.getByRole('gridcell').locator('img').boundingBox()
      const name = await tab.page.getByRole('link', { name: 'tower.jpg' }).boundingBox()
      assert.ok(picture !== null && name !== null && picture.height > 0)
      assert.ok(picture.y + picture.height <= name.y, JSON.stringify({ picture, name }))
    })
  })

  it('are requested again by a link page', async (t) => {
    const space = await withPicture()
    const { token } = await shareLink(space, '/')
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const asked = await keepBusy(tab.page, /\/thumbnail\//, 1)
    await tab.page.goto(`${suite.server.url}/d/${token}/`)
    await shown(tab.page)
    assert.equal(asked(), 2)
  })
})
