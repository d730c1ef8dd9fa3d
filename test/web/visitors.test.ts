import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { PASSWORD, SHARE, shareLink } from '../api/links-support.ts'
import { downloadedBytes } from '../support/browser.ts'
import { makeDocx, wordBody, wordParagraph } from '../support/documents/packages.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { PHONE, webSuite } from './support.ts'
import { makePages, makePicture, recordFilm } from './viewer-support.ts'

/** The most that a browser may receive for the first page of a link, in bytes. */
const FIRST_PAGE = 150_000

describe('visitors of a link', () => {
  const suite = webSuite()

  async function gallery(): Promise<Workspace> {
    const space = await Workspace.make(suite.server)
    const put = (path: string, content: string | Buffer) => uploadFile(space.client, space.id, path, content)
    await put('/pics/a garden.jpg', await makePicture('#486'))
    await put('/pics/b harbour.jpg', await makePicture('#648'))
    await put('/pics/c summit.jpg', await makePicture('#846'))
    await put('/pics/plan.pdf', makePages(['The first page', 'The second page']))
    await put('/pics/readme.md', '# Our trip\n\nWith *pictures*.')
    await put('/pics/deep/note.txt', 'a note about it')
    return space
  }

  const names = (page: Page) => page.getByRole('grid').locator('.files-name').allTextContents()

  it('get the list of the app: it sorts, finds, selects and downloads', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page, complaints } = tab
    const { link } = await shareLink(await gallery(), '/pics')
    await page.goto(link)
    await page.getByRole('grid').waitFor()
    assert.deepEqual(await names(page), [
      'deep',
      'a garden.jpg',
      'b harbour.jpg',
      'c summit.jpg',
      'plan.pdf',
      'readme.md',
    ])
    await tab.picture('visitors-folder')
    await tab.checkAccess()
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
    await eventually(async () => assert.deepEqual((await names(page)).slice(0, 2), ['deep', 'readme.md']))
    await page.getByRole('searchbox', { name: 'Find in this folder' }).fill('a r')
    await eventually(async () =>
      assert.deepEqual(await names(page), ['readme.md', 'b harbour.jpg', 'a garden.jpg']),
    )
    await page.getByRole('searchbox').fill('')
    await eventually(async () => assert.equal((await names(page)).length, 6))
    await page.getByRole('checkbox', { name: 'Select a garden.jpg' }).check({ force: true })
    await page.getByRole('checkbox', { name: 'Select deep' }).check({ force: true })
    await page.getByText('2 selected').waitFor()
    const [archive] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('toolbar').getByRole('button', { name: 'Download' }).click(),
    ])
    const bytes = await downloadedBytes(archive)
    assert.equal(bytes.toString('latin1', 0, 2), 'PK')
    for (const name of ['a garden.jpg', 'deep/note.txt']) assert.ok(bytes.includes(name), name)
    assert.ok(!bytes.includes('readme.md'))
    assert.deepEqual(complaints, [])
  })

  it('go through the pictures of a folder', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page, complaints } = tab
    const { link } = await shareLink(await gallery(), '/pics')
    await page.goto(link)
    await page.getByRole('link', { name: 'a garden.jpg' }).click()
    await page.getByRole('heading', { name: 'a garden.jpg' }).waitFor()
    await page.getByRole('img', { name: 'a garden.jpg' }).waitFor()
    await page.getByRole('button', { name: 'Next file' }).click()
    await page.getByRole('img', { name: 'b harbour.jpg' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('img', { name: 'c summit.jpg' }).waitFor()
    await tab.picture('visitors-picture')
    // The address is that of the file, so it can be sent on and opened anew.
    assert.equal(new URL(page.url()).searchParams.get('p'), '/c summit.jpg')
    await page.reload()
    await page.getByRole('img', { name: 'c summit.jpg' }).waitFor()
    await page.getByRole('button', { name: 'Previous file' }).click()
    await page.getByRole('img', { name: 'b harbour.jpg' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('grid').waitFor()
    assert.deepEqual(complaints, [])
  })

  it('read documents as members do', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page, complaints } = tab
    const space = await gallery()
    const { link } = await shareLink(space, '/pics')
    await page.goto(link)
    await page.getByRole('link', { name: 'readme.md' }).click()
    await page.getByRole('heading', { name: 'Our trip' }).waitFor()
    await page.getByRole('link', { name: 'Back to folder' }).click()
    await page.getByRole('link', { name: 'plan.pdf' }).click()
    await page.getByText('The first page').waitFor()
    await page.getByText('1 / 2').or(page.getByText('of 2')).first().waitFor()
    await tab.picture('visitors-pdf')
    const file = await shareLink(space, '/pics/deep/note.txt')
    await page.goto(file.link)
    await page.getByText('a note about it').first().waitFor()
    assert.equal(await page.getByRole('heading').first().textContent(), 'note.txt')
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    assert.equal(String(await downloadedBytes(saved)), 'a note about it')
    assert.deepEqual(complaints, [])
  })

  it(`receive less than ${FIRST_PAGE / 1000} KB for the first page`, async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const space = await gallery()
    const { link } = await shareLink(space, '/pics/deep')
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    let received = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      received += encodedDataLength
    })
    await page.goto(link, { waitUntil: 'networkidle' })
    await page.getByRole('grid').waitFor()
    assert.ok(received > 50_000, 'the app was loaded')
    assert.ok(received < FIRST_PAGE, `${received} bytes`)
  })

  it('read a Word document on a phone, and play a film', async (t) => {
    const tab = await suite.openTab(t, undefined, PHONE)
    if (tab === undefined) return
    const { page, complaints } = tab
    const space = await Workspace.make(suite.server)
    const size = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'
    const text = wordParagraph('A letter with lines long enough to be broken into several. '.repeat(8))
    const letter = makeDocx([], { 'word/document.xml': wordBody(`${text}${size}`) })
    await uploadFile(space.client, space.id, '/letter.docx', letter)
    await page.goto(`${suite.server.url}/api/docs`)
    await uploadFile(space.client, space.id, '/film.webm', await recordFilm(page))
    const { link } = await shareLink(space, '/')
    await page.goto(link)
    await page.getByRole('grid').waitFor()
    await page.getByRole('link', { name: 'letter.docx' }).click()
    const paper = page.frameLocator('iframe').locator('section.docx')
    await eventually(async () => {
      const box = await paper.boundingBox()
      assert.ok(box !== null && box.x >= 0 && box.x + box.width <= PHONE.viewport.width + 1)
    })
    await tab.picture('visitors-word-phone')
    await page.getByRole('button', { name: 'Previous file' }).click()
    await eventually(async () =>
      assert.ok(await page.evaluate("document.querySelector('video')?.duration > 0")),
    )
    assert.deepEqual(complaints, [])
  })

  it('enter the password of a link once', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const { link } = await shareLink(await gallery(), '/pics', { password: PASSWORD })
    await page.goto(link)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('grid').waitFor()
    await page.getByRole('link', { name: 'a garden.jpg' }).click()
    await page.getByRole('img', { name: 'a garden.jpg' }).waitFor()
  })

  it('enter the new password of a link after it was changed, wherever they are', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const space = await gallery()
    const { link, token } = await shareLink(space, '/pics', { password: PASSWORD })
    const enter = async (password: string) => {
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Open' }).click()
    }
    await page.goto(link)
    await enter(PASSWORD)
    await page.getByRole('grid').waitFor()
    const json = { password: 'walnut and elder' }
    await space.client.put(`${SHARE}${token}/`, { json })
    // The list is open, and the next request asks.
    await page.getByRole('link', { name: 'deep' }).click()
    await page.getByRole('heading', { name: 'Password required' }).waitFor()
    await enter(PASSWORD)
    await page.getByRole('alert').waitFor()
    await enter(json.password)
    await page.getByRole('link', { name: 'note.txt' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('p'), '/deep')
  })

  it('see pictures but get no files by a link without downloads', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const { link } = await shareLink(await gallery(), '/pics', { permissions: { can_download: false } })
    const refused: string[] = []
    page.on('request', (request) => {
      if (/seafhttp|raw=1|dl=1|zip/.test(request.url())) refused.push(request.url())
    })
    await page.goto(link)
    await page.getByRole('link', { name: 'a garden.jpg' }).click()
    await page.getByRole('img', { name: 'a garden.jpg' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Download/ }).count(), 0)
    await page.getByRole('button', { name: 'Next file' }).click()
    await page.getByRole('img', { name: 'b harbour.jpg' }).waitFor()
    await page.getByRole('link', { name: 'Back to folder' }).click()
    await page.getByRole('link', { name: 'readme.md' }).click()
    await page.getByText('# Our trip').waitFor()
    assert.deepEqual(refused, [])
  })

  it('are told when the link has ended meanwhile', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const space = await gallery()
    const { link, token } = await shareLink(space, '/pics')
    await page.goto(link)
    await page.getByRole('grid').waitFor()
    await space.client.delete(`${SHARE}${token}/`)
    await page.getByRole('link', { name: 'deep' }).click()
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    await page.getByText('The link may be mistyped, disabled or deleted').waitFor()
  })

  it('have all of it on a phone, in the dark and in their language', async (t) => {
    const tab = await suite.openTab(t, undefined, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    if (tab === undefined) return
    const { page } = tab
    const { link } = await shareLink(await gallery(), '/pics', { expire_days: 5 })
    await page.goto(link)
    await page.getByRole('grid').waitFor()
    await page.getByText(/^Geteilt von .* bis /).waitFor()
    await tab.picture('visitors-phone-dark')
    await tab.checkAccess()
    await page.getByRole('link', { name: 'b harbour.jpg' }).click()
    await page.getByRole('img', { name: 'b harbour.jpg' }).waitFor()
    await tab.picture('visitors-phone-picture')
    await tab.checkAccess()
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    assert.equal(overflow, 0)
  })
})
