import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

const KB = 1000

describe('the pages of storage', () => {
  const suite = webSuite()

  /** A library with current files, a copy, an earlier version, a deleted file, and a deleted library beside it. */
  async function withPast(): Promise<Workspace> {
    const space = await Workspace.make(suite.server, undefined, 'Films')
    const { client, id } = space
    const put = (path: string, bytes: Buffer, replace = false) =>
      uploadFile(client, id, path, bytes, { replace })
    const film = randomBytes(300 * KB)
    await put('/holidays/sea/long film.bin', film)
    await put('/holidays/copy of it.bin', film)
    await put('/notes.bin', randomBytes(40 * KB))
    await put('/notes.bin', randomBytes(20 * KB), true)
    await put('/gone.bin', randomBytes(90 * KB))
    await client.delete(`/api2/repos/${id}/file/?p=/gone.bin`)
    const small = await client.createLibrary('Small')
    await uploadFile(client, small, '/a.bin', randomBytes(7 * KB))
    const gone = await client.createLibrary('Gone')
    await uploadFile(client, gone, '/b.bin', randomBytes(60 * KB))
    await client.delete(`/api2/repos/${gone}/`)
    await suite.server.running.services.usage.refresh()
    return space
  }

  /** The numbers of a list of terms. */
  const figures = async (page: Page) => {
    const list = page.locator('.libraries-usage').first()
    await list.waitFor()
    const terms = await list.locator('dt').allInnerTexts()
    const sizes = await list.locator('dd').allInnerTexts()
    return Object.fromEntries(terms.map((term, index) => [term.trim(), sizes[index]?.replace(/\s/g, ' ')]))
  }

  it('say what takes up space, what is saved and what can be freed, and lead to the largest files', async (t) => {
    const space = await withPast()
    const admin = await suite.server.admin()
    await admin.put(`/api/v2.1/admin/users/${space.client.email}/`, { form: { quota_total: 2 } })
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/home')
    await page.locator('.shell-space').click()
    await page.waitForURL('**/app/storage')
    assert.deepEqual(await figures(page), {
      'Current files': '327 KB',
      'Earlier versions': '40 KB',
      Trash: '90 KB',
      'Deleted libraries': '60 KB',
      'To be freed': '0 B',
      Total: '517 KB',
    })
    await page.getByText('300 KB are saved, because equal content is stored once.').waitFor()
    await page
      .getByText(/of your quota of/)
      .first()
      .waitFor()
    const ways = page.locator('.storage-ways li')
    assert.deepEqual(
      (await ways.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
      [
        'Empty the trash up to 90 KB',
        'Delete libraries for good up to 60 KB',
        'Keep earlier versions for a shorter time Each library has its own limit. up to 40 KB',
      ],
    )
    await page
      .getByText(/^Counted .* 20\d\d/)
      .first()
      .waitFor()
    await tab.picture('storage')
    await tab.checkAccess()
    await page.emulateMedia({ colorScheme: 'dark' })
    await tab.checkAccess('colors')
    await page.emulateMedia({ colorScheme: 'light' })

    // By keyboard: the largest library, its largest folder, and the largest files below.
    const row = (name: string) => page.locator('.storage-row').filter({ hasText: name })
    await row('Films').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Storage – Films' }).waitFor()
    assert.equal((await figures(page))['Trash'], '90 KB')
    await row('holidays').waitFor()
    assert.match(await row('holidays').innerText(), /600\sKB[^]*2 files/)
    await tab.picture('storage-library')
    await tab.checkAccess()
    await row('holidays').focus()
    await page.keyboard.press('Enter')
    await row('copy of it.bin').waitFor()
    await page.getByRole('radio', { name: 'Largest in this folder' }).focus()
    await page.keyboard.press('ArrowDown')
    await row('long film.bin').getByText('/holidays/sea').waitFor()
    assert.equal(await page.locator('.storage-row').count(), 2)
    await tab.picture('storage-largest')

    // A count that is older than the last change says so, until it is made again.
    await page.getByRole('link', { name: 'Films' }).last().click()
    await page.getByRole('link', { name: 'Empty the trash' }).click()
    await page.waitForURL('**/app/trash/**')
    await page.getByRole('button', { name: 'Empty trash' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('The trash is empty').first().waitFor()
    await tab.go(`/storage/${space.id}`)
    await eventually(async () => assert.equal((await figures(page))['Trash'], '0 B'))
    await page.getByText(/are free soon/).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('show readers the largest files only, and fit a phone in several languages', async (t) => {
    const space = await withPast()
    const reader = await suite.server.signUp()
    await space.client.put(`/api2/repos/${space.id}/dir/shared_items/?p=/`, {
      form: { share_type: 'user', username: reader.email, permission: 'r' },
    })
    const lent = await suite.openTab(t, reader)
    if (lent === undefined) return
    await lent.go(`/library/${space.id}?p=/holidays`)
    await lent.page.getByRole('button', { name: 'Show details' }).click()
    await lent.page.getByRole('button', { name: 'What takes up space' }).click()
    await lent.page.locator('.storage-row').filter({ hasText: 'copy of it.bin' }).waitFor()
    assert.equal(await lent.page.locator('.libraries-usage').count(), 0)
    assert.deepEqual(lent.complaints, [])
    for (const [locale, title] of [
      ['de', 'Speicherplatz'],
      ['zh', '存储空间'],
      ['ar', undefined],
    ] as const) {
      const tab = await suite.openTab(t, space.client, { ...PHONE, locale, colorScheme: 'dark' })
      if (tab === undefined) return
      await tab.go('/storage')
      await figures(tab.page)
      if (title !== undefined) await tab.page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await fitsWidth(tab.page)
      await tab.picture(`storage-phone-${locale}`)
      await tab.checkAccess()
      await tab.go(`/storage/${space.id}`)
      await tab.page.locator('.storage-row').first().waitFor()
      await figures(tab.page)
      await fitsWidth(tab.page)
      await tab.picture(`storage-library-phone-${locale}`)
      await tab.checkAccess()
      assert.deepEqual(tab.complaints, [])
    }
  })
})
