import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import sharp from 'sharp'
import { Workspace } from '../api/folders-support.ts'
import { makeOdf, odfParagraphs } from '../support/documents/packages.ts'
import { createEncrypted, download, openEncrypted } from '../support/encrypted.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'
import { makePages, makePicture, makeTone, recordFilm } from './viewer-support.ts'

describe('the viewer', () => {
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

  it('steps through the pictures of a folder, and zooms', async (t) => {
    const { space, tab, open } = await start(t, {
      '/Holiday/1 beach.jpg': await makePicture('#3c78b4'),
      '/Holiday/2 dunes.jpg': await makePicture('#c9a35a', 600, 1400),
      '/Holiday/10 sign.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><script>parent.hacked=1</script><rect width="90" height="90" fill="teal"/></svg>',
      '/Holiday/scan.tif': 'no picture',
    })
    if (tab === undefined) return
    const { page } = tab
    await open('/Holiday/1 beach.jpg')
    const picture = page.getByRole('img', { name: '1 beach.jpg' })
    await isDrawn(page, '1 beach.jpg')
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByText('140%').waitFor()
    assert.match((await picture.getAttribute('style')) ?? '', /scale\(1\.4\)/)
    await page.keyboard.press('Tab')
    await tab.checkAccess()
    await tab.picture('viewer-image')
    await page.getByRole('button', { name: 'Fit to page' }).click()
    await page.getByText('100%').waitFor()

    await page.locator('.viewer-stage').hover()
    await page.mouse.wheel(0, -600)
    await page.locator('.viewer-stage-near').waitFor()
    await page.locator('.viewer-stage').dblclick()
    await page.getByText('100%').waitFor()

    await page.keyboard.press('ArrowRight')
    await isDrawn(page, '2 dunes.jpg')
    await page.getByText('2 of 4').waitFor()
    await page.keyboard.press('ArrowRight')
    await isDrawn(page, '10 sign.svg')
    assert.equal(await page.evaluate('globalThis.hacked'), undefined)
    await page.getByRole('button', { name: 'Previous file' }).click()
    await isDrawn(page, '2 dunes.jpg')

    await page.getByRole('button', { name: 'Star', exact: true }).click()
    await page.getByRole('button', { name: 'Remove star' }).waitFor()
    const starred = await space.client.get('/api/v2.1/starred-items/')
    assert.deepEqual(
      starred.body.starred_item_list.map(({ path }: { path: string }) => path),
      ['/Holiday/2 dunes.jpg'],
    )
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByText('Locked by you').waitFor()
    const { body } = await space.client.get(space.v21('file/'), { p: '/Holiday/2 dunes.jpg' })
    assert.equal(body.is_locked, true)
    assert.deepEqual(tab.complaints, [])

    await open('/Holiday/scan.tif')
    await page.getByText('This file cannot be shown').waitFor()
  })

  it('shows photos on black with what the camera wrote, and is left by Escape', async (t) => {
    const photo = await sharp(await makePicture('#3c78b4'))
      .withExif({
        IFD0: { Make: 'Acme', Model: 'Pocket 2' },
        IFD2: { DateTimeOriginal: '2019:07:14 10:20:30', FNumber: '28/10', ExposureTime: '1/250' },
        IFD3: {
          GPSLatitudeRef: 'S',
          GPSLatitude: '33/1 30/1 0/1',
          GPSLongitudeRef: 'E',
          GPSLongitude: '151/1 0/1 0/1',
        },
      })
      .jpeg()
      .toBuffer()
    const { space, tab, open } = await start(t, {
      '/Trip/1.jpg': photo,
      '/Trip/2.heic': await readFile(path.join(import.meta.dirname, '../fixtures/photo.heic')),
    })
    if (tab === undefined) return
    const { page } = tab
    await open('/Trip/1.jpg')
    await isDrawn(page, '1.jpg')
    await page.getByRole('button', { name: 'Photo details' }).click()
    const panel = page.getByRole('complementary', { name: 'Photo details' })
    await panel.getByText('Acme Pocket 2').waitFor()
    await panel.getByText('14 Jul 2019, 10:20').waitFor()
    await panel.getByText('1/250 s · f/2.8').waitFor()
    await panel.getByText('-33.50000, 151.00000').waitFor()
    await tab.checkAccess()
    await tab.picture('viewer-lightbox')
    // The panel stays open. The server decodes what the browser cannot.
    await page.keyboard.press('Escape')
    await page.waitForURL(/library/)
    await open('/Trip/1.jpg')
    await isDrawn(page, '1.jpg')
    await page.locator('.viewer-stage').focus()
    await page.keyboard.press('Space')
    await isDrawn(page, '2.heic')
    await page.keyboard.press('Shift+Space')
    await isDrawn(page, '1.jpg')
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await isDrawn(page, '1.jpg')
    await page.keyboard.press('Escape')
    await page.waitForURL(new RegExp(`library/${space.id}`))
    assert.deepEqual(tab.complaints, [])
  })

  it('shows a CSV file as a table', async (t) => {
    const { tab, open } = await start(t, { '/plan.csv': 'Room;Area\nKitchen;"12,5"\nHall;8\n' })
    if (tab === undefined) return
    const { page } = tab
    await open('/plan.csv')
    await page.getByRole('columnheader', { name: 'Area' }).waitFor()
    await page.getByRole('cell', { name: '12,5' }).waitFor()
    await tab.picture('viewer-table')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Editor: plan.csv' }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('plays audio and video, and seeks', async (t) => {
    const { space, tab, open } = await start(t, { '/tone.wav': makeTone(20), '/bad.mp4': 'no film' })
    if (tab === undefined) return
    const { page } = tab
    await open('/tone.wav')
    await page.locator('audio').waitFor()
    const after = await page.locator('audio').evaluate((audio: Media) => {
      audio.muted = true
      return new Promise((resolve) => {
        audio.addEventListener('seeked', () => resolve([Math.round(audio.duration), audio.currentTime]))
        audio.addEventListener('loadedmetadata', () => Object.assign(audio, { currentTime: 15 }))
        if (audio.readyState > 0) audio.currentTime = 15
      })
    })
    assert.deepEqual(after, [20, 15])
    await tab.picture('viewer-audio')

    const film = await recordFilm(page)
    await uploadFile(space.client, space.id, '/film.webm', film)
    await open('/film.webm')
    await eventually(async () => {
      assert.equal(await page.locator('video').evaluate((video: Media) => video.videoWidth), 160)
    })
    await tab.checkAccess()
    await tab.picture('viewer-video')
    assert.deepEqual(tab.complaints, [])

    await open('/bad.mp4')
    await page.getByText('Your browser cannot play this format.').waitFor()
    await page.getByRole('button', { name: 'Download' }).last().waitFor()
  })

  it('renders the pages of a PDF on demand', async (t) => {
    const lines = Array.from({ length: 30 }, (_, index) => `This is leaf ${index + 1} of the book`)
    const { tab, open } = await start(t, { '/book.pdf': makePages(lines), '/broken.pdf': '%PDF-1.7 nothing' })
    if (tab === undefined) return
    const { page } = tab
    await open('/book.pdf')
    await page.getByText('This is leaf 1 of the book').waitFor()
    await page.getByText('of 30').waitFor()
    const ink = await page.locator('.pdf-page canvas').first().evaluate(darkPixels)
    assert.ok(ink > 500, `${ink} dark pixels`)
    await tab.picture('viewer-pdf')
    const first = page.getByRole('region', { name: 'Page 1', exact: true })
    await first.getByRole('button', { name: 'Go to page 3' }).waitFor()
    assert.equal(await first.getByRole('link').count(), 1)
    assert.equal(await first.getByRole('link').getAttribute('href'), 'https://example.org/')
    await first.getByRole('button', { name: 'Go to page 3' }).click()
    await page.getByText('This is leaf 3 of the book').waitFor()
    // Scrolling leaves the number alone that is about to be replaced.
    await page.getByRole('textbox', { name: 'Page' }).focus()
    await page.getByRole('region', { name: 'Page 8', exact: true }).scrollIntoViewIfNeeded()
    await page.getByText('This is leaf 8 of the book').waitFor()
    await page.keyboard.type('22')
    await page.keyboard.press('Enter')
    await page.getByText('This is leaf 22 of the book').waitFor()
    assert.equal(await page.getByText('This is leaf 1 of the book').count(), 0)
    assert.ok((await page.locator('.pdf-page canvas').count()) < 10)
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByText('This is leaf 22 of the book').waitFor()
    assert.deepEqual(tab.complaints, [])

    await open('/broken.pdf')
    await page.getByText('This file cannot be shown').waitFor()
  })

  it('shows the text of a document, and a card for unsupported types', async (t) => {
    const { tab, open } = await start(t, {
      '/letter.odt': makeOdf('text', odfParagraphs(['Dear reader,', '<b>not bold</b>'])),
      '/damaged.docx': 'not a document',
      '/data.bin': 'x'.repeat(5000),
      '/video.ts': Buffer.from([0x47, 0, 0, 0x10]),
    })
    if (tab === undefined) return
    const { page } = tab
    await open('/letter.odt')
    await page.getByText('<b>not bold</b>').waitFor()
    await page.getByText('without its layout').waitFor()
    await tab.checkAccess()
    await tab.picture('viewer-document')
    await open('/video.ts')
    await page.getByText('This file does not contain text').waitFor()
    await open('/data.bin')
    await page.getByText('No preview available for this type of file.').waitFor()
    await tab.picture('viewer-other')
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).last().click(),
    ])
    assert.equal(saved.suggestedFilename(), 'data.bin')
    assert.deepEqual(tab.complaints, [])
    await open('/damaged.docx')
    await page.getByText('The text of this document could not be read.').waitFor()
    await open('/missing.txt')
    await page.getByText('not found').waitFor()
    await tab.checkAccess()
  })

  it('reads and writes in an unlocked encrypted library', async (t) => {
    const person = await suite.server.signUp()
    const { id } = await createEncrypted(person, 4)
    await openEncrypted(person, id)
    await uploadFile(person, id, '/secret.jpg', await makePicture('#334455'))
    await uploadFile(person, id, '/secret.txt', 'between us')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/view/${id}?p=/secret.jpg`)
    await isDrawn(page, 'secret.jpg')
    await page.keyboard.press('ArrowRight')
    await page.getByText('between us').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Editor: secret.txt' }).press('Control+End')
    await page.keyboard.insertText(' two')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved.').waitFor()
    assert.equal((await download(person, id, '/secret.txt')).toString(), 'between us two')
    assert.deepEqual(tab.complaints, [])
  })

  it('fits a phone, in dark mode, with any names', async (t) => {
    const name = `${'a very long name '.repeat(12)}\u202Egpj.jpg`.slice(-200)
    const { tab, open } = await start(
      t,
      {
        [`/${name}`]: await makePicture('#7a4f9a'),
        '/book.pdf': makePages(['One', 'Two']),
        '/letter.odt': makeOdf('text', odfParagraphs(['Dear reader, '.repeat(40)])),
        '/tone.wav': makeTone(2),
      },
      { ...PHONE, colorScheme: 'dark' },
    )
    if (tab === undefined) return
    const { page } = tab
    await open(`/${name}`)
    await isDrawn(page, name)
    await tab.picture('viewer-image-phone-dark')
    await fitsWidth(page)
    // A swipe leads to the next file.
    const input = await page.context().newCDPSession(page)
    for (const [type, x] of [
      ['touchStart', 300],
      ['touchMove', 180],
      ['touchMove', 60],
      ['touchEnd', 60],
    ] as const) {
      const touchPoints = type === 'touchEnd' ? [] : [{ x, y: 450 }]
      await input.send('Input.dispatchTouchEvent', { type, touchPoints })
    }
    await page.getByText('One').waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Download' }).waitFor()
    await tab.picture('viewer-menu-phone-dark')
    await page.keyboard.press('Escape')
    await open('/book.pdf')
    await page.getByText('One').waitFor()
    await tab.picture('viewer-pdf-phone-dark')
    await fitsWidth(page)
    for (const [path, text] of [['/letter.odt', 'without its layout']] as const) {
      await open(path)
      await page.getByText(text).waitFor()
      await tab.picture('viewer-document-phone-dark')
      await fitsWidth(page)
    }
    await open('/tone.wav')
    await page.locator('audio').waitFor()
    await tab.picture('viewer-audio-phone-dark')
    await fitsWidth(page)
    assert.deepEqual(tab.complaints, [])
  })
})

/** The properties of media elements used here; the types of the tests do not have them. */
interface Media {
  muted: boolean
  duration: number
  currentTime: number
  readyState: number
  videoWidth: number
  addEventListener(name: string, listener: () => void): void
}

async function isDrawn(page: Page, name: string): Promise<void> {
  const picture = page.getByRole('img', { name, exact: true })
  await picture.waitFor()
  await eventually(async () => {
    assert.ok(await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth > 0))
  })
}

function darkPixels(canvas: {
  width: number
  height: number
  getContext(kind: '2d'): {
    getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray }
  }
}): number {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let count = 0
  for (let index = 0; index < data.length; index += 4) if ((data[index] ?? 255) < 100) count += 1
  return count
}
