import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { makeDocx, wordBody, wordParagraph } from '../support/documents/packages.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'
import { dropFiles } from './upload-support.ts'
import { makePicture } from './viewer-support.ts'

/** Faults that were seen on pages: something cut off, too wide, too pale, missing or not so. */
describe('what was seen to be wrong', () => {
  const suite = webSuite()

  for (const [name, window] of [
    ['900 pixels high', { viewport: { width: 1280, height: 900 } }],
    ['a phone', PHONE],
  ] as const) {
    it(`is not the end of a menu in a window of ${name}`, async (t) => {
      const space = await furnished(suite.server)
      const tab = await suite.openTab(t, space.client, window)
      if (tab === undefined) return
      const { page } = tab
      await tab.go(`/library/${space.id}`)
      const list = new PagedTable(tab)
      await list.row('notes.md').waitFor()
      await list.row('notes.md').getByRole('button', { name: 'More actions' }).dispatchEvent('click')
      const menu = page.getByRole('menu')
      await menu.getByRole('menuitem', { name: 'Delete' }).waitFor()
      for (const item of ['Details', 'Delete']) {
        await eventually(async () => {
          const [whole, part] = [
            await menu.boundingBox(),
            await menu.getByRole('menuitem', { name: item }).boundingBox(),
          ]
          assert.ok(whole !== null && part !== null)
          assert.ok(part.y + part.height <= whole.y + whole.height, `${item} is cut off`)
          assert.ok(whole.y >= 0 && whole.y + whole.height <= window.viewport.height)
        })
      }
      await tab.picture(`menu-${window.viewport.height}`)
      await tab.checkAccess()
    })
  }

  it('is not a list of activities that is wider than a phone', async (t) => {
    const space = await Workspace.make(
      suite.server,
      undefined,
      'A library with quite a long name of many words',
    )
    const long = `Minutes_of_the_meeting_about_the_extension_of_the_greenhouse_and_its_costs_${'x'.repeat(60)}`
    await space.folder(`/${long}`)
    for (const name of [`${long}-1.txt`, `${long}-2.txt`, `${long}-3.txt`])
      await uploadFile(space.client, space.id, `/${name}`, 'text')
    const tab = await suite.openTab(t, space.client, PHONE)
    if (tab === undefined) return
    await tab.go('/activity')
    await tab.page.getByText(`${long}-1.txt`).first().waitFor()
    await fitsWidth(tab.page)
    await tab.picture('activity-phone-long')
  })

  it('is not storage without accounts, and not 0 bytes of what is not measured', async (t) => {
    const admin = await suite.server.admin()
    const [none, some] = [await suite.server.signUp(), await suite.server.signUp()]
    const library = await some.createLibrary('Full')
    await uploadFile(some, library, '/big.bin', Buffer.alloc(70_000, 1))
    const tab = await suite.openTab(t, admin)
    if (tab === undefined) return
    await tab.go('/admin/storage')
    const row = (email: string) => tab.page.getByRole('row').filter({ hasText: email })
    await row(some.email).waitFor()
    await row(none.email).waitFor()
    const cells = await row(some.email).getByRole('cell').allTextContents()
    assert.equal(cells[2], '70 KB')
    assert.ok(!cells.slice(3).some((cell) => cell.startsWith('0 B')), cells.join(' | '))
    await tab.picture('admin-storage-unmeasured')
    await tab.checkAccess()
  })

  it('are not pale numbers in code, an outline that nobody sees, or a table that ends without a word', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/sum.js', 'const sum = 1234 + 5678 // true\nlet yes = true\n')
    const rows = Array.from({ length: 2500 }, (_, row) => `${row},${row * row}`)
    await uploadFile(space.client, space.id, '/long.csv', ['number,square', ...rows].join('\n'))
    await uploadFile(space.client, space.id, '/hill.jpg', await makePicture('teal'))
    await uploadFile(space.client, space.id, '/damaged.jpg', Buffer.from('not a picture at all'))
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/view/${space.id}?p=/sum.js`)
    const number = page.locator('.cm-line span', { hasText: /^1234$/ })
    await number.waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.ok((await contrast(number)) >= 4.5, `numbers in ${colorScheme}: ${await contrast(number)}`)
    }

    await tab.go(`/view/${space.id}?p=/long.csv`)
    await page.getByText(/The table goes on\. Its first 2,000 rows are shown here/).waitFor()
    assert.match(await page.locator('.viewer-table > :last-child').innerText(), /^The table goes on/)

    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/seafhttp/**', async (route) => {
      await held
      await route.continue()
    })
    await tab.go(`/view/${space.id}?p=/hill.jpg`)
    const outline = page.locator('.viewer-stage .waiting i').first()
    await outline.waitFor()
    await eventually(async () => assert.ok(((await outline.boundingBox())?.width ?? 0) > 100))
    const [mark, ground] = (await page.evaluate(
      `['.viewer-stage .waiting i', '.viewer'].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor)`,
    )) as [string, string]
    assert.notEqual(mark, ground)
    await tab.picture('viewer-picture-waiting')
    release()
    await page.unrouteAll({ behavior: 'ignoreErrors' })

    const failures: number[] = []
    page.on('response', (response) => {
      if (response.status() >= 500) failures.push(response.status())
    })
    await tab.go(`/view/${space.id}?p=/damaged.jpg`)
    await page.getByText(/cannot be shown/).waitFor()
    assert.deepEqual(failures, [])

    await page.route('**/api2/repos/*/file/**', (route) => route.fulfill({ status: 500, body: '{}' }))
    await tab.go(`/view/${space.id}?p=/hill.jpg`)
    const retry = page.getByRole('button', { name: 'Try again' })
    await retry.waitFor()
    assert.ok((await contrast(retry)) >= 4.5, `the button of the error card: ${await contrast(retry)}`)
    await tab.checkAccess()
  })

  it('is not a drop that nobody explains, a name of a right that another page does not use, or a time without a date', async (t) => {
    const [owner, reader] = [await suite.server.signUp(), await suite.server.signUp()]
    const library = await owner.createLibrary('Lent')
    await uploadFile(owner, library, '/old.txt', 'old', { lastModify: '2018-05-03T12:00:00+00:00' })
    await owner.put(`/api2/repos/${library}/dir/shared_items/?p=/`, {
      form: { share_type: 'user', username: reader.email, permission: 'r' },
    })
    const tab = await suite.openTab(t, reader)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/shared')
    await page.getByText('Lent').first().waitFor()
    await page.getByText('Read-only').first().waitFor()
    assert.equal(await page.getByText('View only').count(), 0)
    await tab.go(`/library/${library}`)
    const list = new PagedTable(tab)
    await list.row('old.txt').waitFor()
    assert.match(await list.row('old.txt').innerText(), /\d{1,2} \w{3,4} 20\d\d/)
    await dropFiles(page, [{ name: 'new.txt', text: 'new' }], undefined, { leaveAt: 'dragover' })
    await page
      .getByRole('alert')
      .getByText('This folder is read-only, so nothing can be uploaded here.')
      .waitFor()
    await tab.picture('drop-refused')
    await tab.checkAccess()
  })

  it('is not “Only you” on a library of which others see a part, and one list says who sees what', async (t) => {
    const [owner, friend] = [await suite.server.signUp(), await suite.server.signUp()]
    const [open, closed] = [await owner.createLibrary('Half open'), await owner.createLibrary('Closed')]
    await uploadFile(owner, open, '/inner/plan.txt', 'a plan')
    await uploadFile(owner, closed, '/diary.txt', 'a diary')
    await owner.put(`/api2/repos/${open}/dir/shared_items/?p=/inner`, {
      form: { share_type: 'user', username: friend.email, permission: 'r' },
    })
    await owner.post('/api/v2.1/share-links/', { json: { repo_id: open, path: '/inner/plan.txt' } })
    const tab = await suite.openTab(t, owner)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const card = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await card('Closed').getByText('Only you').waitFor()
    await card('Half open').getByText('1 part shared · 1 link').waitFor()
    assert.equal(await card('Half open').getByText('Only you').count(), 0)
    await tab.picture('library-cards-access')
    await page.getByRole('button', { name: 'Actions for Half open' }).click()
    await page.getByRole('menuitem', { name: 'Who can see this?' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Only parts of it' }).waitFor()
    const row = dialog.getByRole('listitem').filter({ hasText: friend.email.split('@')[0] ?? '' })
    await row
      .filter({ hasText: 'Read-only · inner' })
      .getByText(/^since .* 20\d\d, by /)
      .waitFor()
    await dialog
      .getByRole('listitem')
      .filter({ hasText: 'Anyone with the link' })
      .getByText('inner/plan.txt')
      .waitFor()
    await tab.checkAccess()
    await tab.picture('who-can-see')
    await page.keyboard.press('Escape')
    await tab.go(`/library/${closed}`)
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.getByText('Who can see this?').click()
    await page.getByText('Nobody else can see it.').waitFor()
  })

  it('is not a rename, star or deletion that was not made, or a name that hides its extension', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/plan.txt', 'a plan')
    await uploadFile(space.client, space.id, '/photo\u202Egpj.exe', 'no picture')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}`)
    const list = new PagedTable(tab)
    await list.shows(['photo\uFFFDgpj.exe', 'plan.txt'])
    await tab.picture('name-direction')
    await page.context().setOffline(true)
    await list.cell('plan.txt').click()
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'Name' }).fill('renamed.txt')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').first().waitFor()
    await list.shows(['photo\uFFFDgpj.exe', 'plan.txt'])
    await list.cell('plan.txt').click()
    await page.keyboard.press('Delete')
    await page.getByRole('alert').nth(1).waitFor()
    await list.shows(['photo\uFFFDgpj.exe', 'plan.txt'])
    await tab.picture('rename-offline')
    await page.context().setOffline(false)
  })

  it('is not the message of a browser about a part that did not load', async (t) => {
    const user = await suite.server.signUp()
    const tab = await suite.openTab(t, user)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('heading', { name: 'Libraries' }).first().waitFor()
    await page.route(/\/web\/assets\/(?:admin|photos|pages|activity)/, (route) => route.abort())
    await page.evaluate(`document.querySelector('a[href$="/photos"]').click()`)
    const reload = page.getByRole('button', { name: 'Reload' })
    await reload.waitFor()
    assert.equal(await page.getByText('dynamically imported').count(), 0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.ok((await contrast(reload)) >= 4.5, `the button in ${colorScheme}`)
    }
    await tab.picture('part-missing')
    await tab.checkAccess()
    // Another page is not hidden behind the error.
    await page.evaluate(`document.querySelector('a[href$="/app/"]').click()`)
    await reload.waitFor({ state: 'detached' })
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('is not a Word document of which a phone shows three quarters', async (t) => {
    const space = await Workspace.make(suite.server)
    const size =
      '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1417" w:right="1417" w:bottom="1134" w:left="1417"/></w:sectPr>'
    const text = wordParagraph(
      'A letter of one page, with lines long enough to be broken into several. '.repeat(8),
    )
    const letter = makeDocx([], { 'word/document.xml': wordBody(`${text}${size}`) })
    await uploadFile(space.client, space.id, '/letter.docx', letter)
    const tab = await suite.openTab(t, space.client, PHONE)
    if (tab === undefined) return
    await tab.go(`/view/${space.id}?p=/letter.docx`)
    const frame = tab.page.frameLocator('iframe')
    await frame.getByText('A letter of one page').waitFor()
    await eventually(async () => {
      const box = await frame.locator('section.docx').boundingBox()
      assert.ok(
        box !== null && box.x >= 0 && box.x + box.width <= PHONE.viewport.width + 1,
        JSON.stringify(box),
      )
    })
    await tab.picture('word-phone')
  })
})

/** The contrast of the text of an element with the ground below it, as WCAG computes it. */
async function contrast(element: Locator): Promise<number> {
  const mark = `measured-${Math.random()}`
  await element.evaluate((node, name) => {
    ;(node as unknown as { dataset: Record<string, string> }).dataset['measured'] = name
  }, mark)
  return Number(
    await element.page().evaluate(`(${CONTRAST})(document.querySelector('[data-measured="${mark}"]'))`),
  )
}

const CONTRAST = `(element) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const channels = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((one) => one / 255).map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  let ground = element
  while (ground && channels(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement
  const [a, b] = [light(channels(getComputedStyle(element).color)), light(channels(ground ? getComputedStyle(ground).backgroundColor : 'white'))]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}`
