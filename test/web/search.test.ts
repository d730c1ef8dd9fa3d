import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('search', () => {
  const suite = webSuite()

  let filling: Promise<{ person: Client; library: string }> | undefined
  /** One library for all tests: what one adds does not match the words of another. */
  const filled = () => (filling ??= fill())

  async function fill(): Promise<{ person: Client; library: string }> {
    const person = await suite.server.signUp()
    const library = await person.createLibrary('Garden')
    const script = '<script>alert(1)</script> the juniper & the <b>rose</b>'
    await uploadFile(person, library, '/plants/roses.md', `We planted a ${script} last spring.`)
    await uploadFile(person, library, '/plants/<img src=x onerror=alert(1)> rose.txt', 'Nothing.')
    await uploadFile(person, library, '/plants/rosemary.csv', 'a,b')
    await uploadFile(person, library, '/100%25 & c+d #1.txt', 'Signs.')
    await uploadFile(person, library, `/${'long rose '.repeat(20)}.txt`, 'Long.')
    for (let n = 0; n < 40; n += 1) await uploadFile(person, library, `/many/tulip ${n}.txt`, '')
    await eventually(async () => {
      const { body } = await person.get('/api2/search/', { q: 'tulip' })
      assert.equal(body.total, 40)
    })
    return { person, library }
  }

  it('finds while typing, by keyboard alone, and opens results in place', async (t) => {
    const { person, library } = await filled()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/activity')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.keyboard.press('/')
    const field = page.getByRole('combobox', { name: 'Search' })
    await page.keyboard.type('juniper')
    const options = page.getByRole('listbox', { name: 'Results' }).getByRole('option')
    await options.first().getByText('roses.md').waitFor()
    assert.deepEqual(await options.first().locator('mark').allTextContents(), ['juniper'])
    await options.first().getByText('<script>alert(1)</script>').waitFor()
    await tab.checkAccess()
    await tab.picture('search-typing')
    await page.keyboard.press('ArrowDown')
    assert.equal(await options.first().getAttribute('aria-selected'), 'true')
    assert.equal(await field.getAttribute('aria-activedescendant'), await options.first().getAttribute('id'))
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/app/view/${library}?p=/plants/roses.md`)
    await page.keyboard.press('/')
    await page.keyboard.type('rose')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/search?q=rose')
    await page.getByText('4 results').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('100%25 & c+d #1')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: '100%25 & c+d #1.txt' }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('shows all results with filters that are part of the URL', async (t) => {
    const { person, library } = await filled()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/search?q=rose')
    await page.getByText('4 results').waitFor()
    assert.equal(await page.title(), 'rose · Search · Carrel')
    await tab.checkAccess()
    await tab.picture('search')
    await page.getByLabel('Type', { exact: true }).selectOption('markdown')
    await page.getByText('1 result', { exact: true }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('kind'), 'markdown')
    await page.reload()
    await page.getByText('1 result', { exact: true }).waitFor()
    await page.getByLabel('Type', { exact: true }).selectOption('')
    await page.getByLabel('Extensions').fill('csv')
    await page.getByRole('link', { name: 'rosemary.csv' }).waitFor()
    await page.getByText('1 result', { exact: true }).waitFor()
    await page.getByLabel('Size').selectOption('large')
    await page.getByText('No results', { exact: true }).waitFor()
    await tab.picture('search-nothing')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('4 results').waitFor()
    await page.getByLabel('Location').selectOption({ label: 'Garden' })
    await page.getByText('4 results').waitFor()
    await page.getByRole('link', { name: 'roses.md' }).click()
    await page.waitForURL(`**/app/view/${library}?p=/plants/roses.md`)
    await page.goBack()
    await page.getByText('4 results').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('finds by a tag, and shows the comment that matches, to which the result leads', async (t) => {
    const { person, library } = await filled()
    const url = `/api/v2.1/repos/${library}`
    const form = { name: 'to read', color: '#2196f3' }
    const { repo_tag: tag } = (await person.post(`${url}/repo-tags/`, { form })).body
    await person.post(`${url}/file-tags/`, {
      form: { file_path: '/plants/roses.md', repo_tag_id: tag.repo_tag_id },
    })
    await person.post(`/api2/repos/${library}/file/comments/`, {
      query: { p: '/plants/roses.md' },
      form: { comment: 'The hydrangea is thirsty' },
    })
    await eventually(async () => {
      assert.equal((await person.get('/api2/search/', { q: 'hydrangea' })).body.total, 1)
    })
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/search')
    await page.getByLabel('Tag').selectOption('to read')
    await page.getByText('1 result', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'roses.md' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('tag'), 'to read')
    await page.getByLabel('Tag').selectOption('')
    await page.getByRole('searchbox', { name: 'Search for' }).fill('hydrangea')
    await page.keyboard.press('Enter')
    await page.getByText(/^Comment by /).waitFor()
    await page.getByRole('blockquote').filter({ hasText: 'The hydrangea is thirsty' }).waitFor()
    await tab.checkAccess()
    await tab.picture('search-comment')
    await page.getByRole('link', { name: 'roses.md' }).click()
    await page.locator('.comment[aria-current]').filter({ hasText: 'The hydrangea is thirsty' }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('loads more on scrolling, on a phone in dark mode', async (t) => {
    const { person } = await filled()
    const tab = await suite.openTab(t, person, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/search')
    await page.getByText('What are you looking for?').waitFor()
    await page.getByRole('banner').getByRole('button', { name: 'Search' }).click()
    await page.getByRole('combobox', { name: 'Search' }).fill('tulip')
    await page.getByRole('option', { name: /All results for/ }).waitFor()
    await page.getByRole('option', { name: /tulip/ }).nth(3).waitFor()
    await tab.picture('search-typing-phone-dark')
    await page.keyboard.press('Enter')
    await page.getByText('40 results').waitFor()
    const rows = page.getByRole('link', { name: /^tulip \d+\.txt$/ })
    await page.getByRole('link', { name: 'tulip', exact: false }).first().waitFor()
    await tab.picture('search-phone-dark')
    while ((await rows.count()) < 40) await rows.last().scrollIntoViewIfNeeded()
    await fitsWidth(page)
  })
})
