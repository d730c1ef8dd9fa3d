import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import sharp from 'sharp'
import { Workspace } from '../api/folders-support.ts'
import { PASSWORD, shareLink, uploadLinkTo } from '../api/links-support.ts'
import { accessibilityViolations } from '../support/accessibility.ts'
import { downloadedBytes, openBrowser } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'

// Runs in the page, which has globals that this program does not have.
const SIDEWAYS = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const DROPPED = `(() => {
  const transfer = new DataTransfer()
  transfer.items.add(new File(['dropped'], 'dropped.txt'))
  return transfer
})()`

describe('the link pages in a browser', () => {
  let server: TestServer
  let browser: Browser | undefined
  before(async () => {
    server = await startServer()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server[Symbol.asyncDispose]()
  })

  /** Opens a separate tab and collects the errors of its page. */
  async function openTab(t: TestContext, options: Parameters<Browser['newContext']>[0] = {}) {
    if (browser === undefined) {
      t.skip('chromium is not installed')
      return undefined
    }
    const context = await browser.newContext(options)
    t.after(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    return { context, page, complaints }
  }

  async function gallery(): Promise<Workspace> {
    const space = await Workspace.make(server)
    const picture = sharp({ create: { width: 300, height: 200, channels: 3, background: '#486' } })
    await uploadFile(space.client, space.id, '/pics/garden.jpg', await picture.jpeg().toBuffer())
    await uploadFile(space.client, space.id, '/pics/deep/note.txt', 'a note <b>about</b> it')
    await uploadFile(
      space.client,
      space.id,
      '/pics/<img src=x onerror=hurt=1>.txt',
      '<script>hurt=1</script>',
    )
    return space
  }

  it('show folders, files and pictures, and execute none of them', async (t) => {
    const tab = await openTab(t)
    if (tab === undefined) return
    const { page, complaints } = tab
    const { link } = await shareLink(await gallery(), '/pics')
    // Without the trailing slash, as people copy it.
    await page.goto(link.slice(0, -1), { waitUntil: 'networkidle' })
    await page.getByRole('grid').waitFor()
    assert.deepEqual(await page.locator('.files-name').allTextContents(), [
      'deep',
      '<img src=x onerror=hurt=1>.txt',
      'garden.jpg',
    ])
    await eventually(async () => assert.ok((await widthOf(page, '.files-row-picture img')) > 0))
    await page.getByRole('link', { name: 'deep' }).click()
    await page.getByRole('link', { name: 'note.txt' }).click()
    await page.getByText('a note <b>about</b> it').waitFor()
    await page.getByRole('link', { name: 'Back to folder' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'pics' }).click()
    await page.getByRole('link', { name: 'garden.jpg' }).click()
    await eventually(async () => assert.equal(await widthOf(page, '.viewer-stage img'), 300))
    await page.goBack()
    await page.getByRole('link', { name: /^<img/ }).click()
    await page.getByText('<script>hurt=1</script>').waitFor()
    assert.equal(await page.locator('h1').textContent(), '<img src=x onerror=hurt=1>.txt')
    assert.equal(await page.evaluate("'hurt' in window"), false)
    assert.deepEqual(complaints, [])
  })

  it('download a file and an archive', async (t) => {
    const tab = await openTab(t)
    if (tab === undefined) return
    const { page, complaints } = tab
    const { link } = await shareLink(await gallery(), '/pics')
    await page.goto(link)
    await page.getByRole('grid').waitFor()
    const downloaded = async (button: Locator) => {
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      const bytes = await downloadedBytes(download)
      return { name: download.suggestedFilename(), bytes }
    }
    const row = page.getByRole('row', { name: 'garden.jpg' })
    await row.hover()
    const file = await downloaded(row.getByTitle('Download'))
    assert.deepEqual([file.name, file.bytes.subarray(0, 2).toString('hex')], ['garden.jpg', 'ffd8'])
    const archive = await downloaded(page.getByRole('button', { name: 'Download all' }))
    assert.deepEqual([archive.name, archive.bytes.toString('latin1', 0, 2)], ['pics.zip', 'PK'])
    assert.deepEqual(complaints, [])
  })

  it('work without scripts', async (t) => {
    const tab = await openTab(t, { javaScriptEnabled: false })
    if (tab === undefined) return
    const { page } = tab
    const { link } = await shareLink(await gallery(), '/pics')
    await page.goto(link)
    await page.getByRole('link', { name: /^deep/ }).click()
    await page.getByRole('link', { name: /^note\.txt/ }).click()
    assert.equal(await page.locator('pre').textContent(), 'a note <b>about</b> it')
    await page.getByRole('navigation').getByRole('link').first().click()
    const downloaded = async (button: Locator) => {
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      return download.suggestedFilename()
    }
    assert.equal(await downloaded(page.getByRole('link', { name: 'Download garden.jpg' })), 'garden.jpg')
    assert.equal(await downloaded(page.getByRole('button', { name: 'Download all' })), 'pics.zip')
  })

  it('ask for the password once', async (t) => {
    const tab = await openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const { link } = await shareLink(await gallery(), '/pics', { password: PASSWORD })
    await page.goto(link)
    assert.equal(await page.locator('h1').textContent(), 'Password required')
    await page.getByLabel('Password').fill('a wrong guess')
    await page.getByRole('button', { name: 'Open' }).click()
    assert.match((await page.getByRole('alert').textContent()) ?? '', /Wrong password/)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'pics' }).waitFor()
    await page.goto(`${link}?p=/deep`)
    await page.getByRole('heading', { name: 'deep' }).waitFor()
  })

  it('upload several files at a time, with names that are taken', async (t) => {
    const tab = await openTab(t)
    if (tab === undefined) return
    const { page, complaints } = tab
    const space = await gallery()
    const { link } = await uploadLinkTo(space, '/pics/deep')
    await page.goto(link)
    const file = (name: string, text: string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    })
    await page
      .locator('input[type=file]')
      .setInputFiles([
        file('note.txt', 'another'),
        file('b <i>.txt', 'b'),
        file('c.txt', 'c'),
        file('d.txt', ''),
      ])
    await page.getByText('4 uploaded').waitFor()
    assert.equal(await page.locator('.sent .done').count(), 4)
    assert.equal(await page.getByText('(1)').count(), 0, 'taken names are not revealed')
    assert.deepEqual(await namesIn(space.client, space.id, '/pics/deep'), [
      'b <i>.txt',
      'c.txt',
      'd.txt',
      'note (1).txt',
      'note.txt',
    ])
    assert.equal(String(await storedBytes(server, space.id, '/pics/deep/note (1).txt')), 'another')
    assert.deepEqual(complaints, [])
    await space.client.delete(space.v21('dir/'), { query: { p: '/pics/deep' } })
    await page.locator('input[type=file]').setInputFiles([file('late.txt', 'late')])
    await page.getByText('This link no longer works').waitFor()
  })

  it('accept files dropped on a folder that permits uploads', async (t) => {
    const tab = await openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const space = await gallery()
    const { link } = await shareLink(space, '/pics', { permissions: { can_upload: true } })
    await page.goto(`${link}?p=/deep`)
    const data = await page.evaluateHandle(DROPPED)
    await page.dispatchEvent('.drop', 'dragenter', { dataTransfer: data })
    assert.ok(await page.locator('.drop.over').count())
    await page.dispatchEvent('.drop', 'drop', { dataTransfer: data })
    await page.getByText('1 uploaded').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/pics/deep'), ['dropped.txt', 'note.txt'])
  })

  it('are accessible in light and dark mode, on a phone and on a wide screen', async (t) => {
    const space = await gallery()
    const folder = await shareLink(space, '/pics', { expire_days: 9, permissions: { can_upload: true } })
    const secret = await shareLink(space, '/pics/deep', { password: PASSWORD })
    const upload = await uploadLinkTo(space, '/pics')
    const addresses = [
      folder.link,
      `${folder.link}files/?p=/deep/note.txt`,
      `${folder.link}files/?p=/garden.jpg`,
      secret.link,
      upload.link,
      `${server.url}/f/${'ab'.repeat(10)}/`,
    ]
    const screens = [
      { colorScheme: 'light', viewport: { width: 360, height: 740 } },
      { colorScheme: 'dark', viewport: { width: 1600, height: 900 } },
    ] as const
    for (const screen of screens) {
      const tab = await openTab(t, screen)
      if (tab === undefined) return
      for (const address of addresses) await assertUsable(tab.page, address)
    }
  })

  async function assertUsable(page: Page, address: string): Promise<void> {
    await page.goto(address, { waitUntil: 'networkidle' })
    const violations = await accessibilityViolations(page)
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)
    assert.deepEqual(found, [], address)
    const overflow = await page.evaluate(SIDEWAYS)
    assert.equal(overflow, 0, `${address} scrolls sideways`)
  }

  it('include the API reference, which finds and shows a call', async (t) => {
    for (const viewport of [
      { width: 1200, height: 900 },
      { width: 390, height: 844 },
    ]) {
      const tab = await openTab(t, { viewport })
      if (tab === undefined) return
      const { page, complaints } = tab
      await page.goto(`${server.url}/api/docs`)
      await page.getByText(/^\d{3} calls$/).waitFor()
      await page.getByLabel('Filter').fill('file detail api2')
      await page.getByText('/api2/repos/{repo_id}/file/detail/').click()
      await page.getByText('last_modifier_email', { exact: true }).waitFor()
      assert.equal(await page.evaluate(SIDEWAYS), 0)
      assert.deepEqual(await accessibilityViolations(page), [])
      assert.deepEqual(complaints, [])
    }
  })
})

/** The pixels of a loaded picture, 0 until it is loaded. */
function widthOf(page: Page, selector: string): Promise<number> {
  return page.evaluate(`document.querySelector('${selector}').naturalWidth`)
}
