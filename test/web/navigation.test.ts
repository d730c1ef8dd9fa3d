import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadCompiledTexts } from '../../web/texts-compiler/load.ts'
import { listLanguages, readLanguageInfo } from '../../web/texts-compiler/messages.ts'
import { eventually, namesIn } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { PHONE, webSuite } from './support.ts'
import { dropFiles } from './upload-support.ts'

describe('the side menu', () => {
  const suite = webSuite()

  it('has the libraries as a tree that opens folders and accepts drops', async (t) => {
    const space = await furnished(suite.server)
    const letters = await space.client.createLibrary('Letters')
    await space.client.createLibrary(`Taxes ${'and insurance '.repeat(5)}`)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    const tree = page.getByRole('tree', { name: 'Libraries' })
    const item = (name: string) => tree.getByRole('treeitem', { name, exact: true })
    await tab.go('/')
    await item('Plans').waitFor()
    // The long name is cut off.
    const side = page.locator('#shell-side')
    const [width, room] = await side.evaluate((one) => {
      const { scrollWidth, clientWidth } = one as unknown as { scrollWidth: number; clientWidth: number }
      return [scrollWidth, clientWidth]
    })
    assert.equal(width, room)
    await item('Plans').focus()
    await page.keyboard.press('ArrowRight')
    await item('Photos').waitFor()
    assert.equal(await item('Photos').getAttribute('aria-level'), '2')
    await tab.checkAccess()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await list.shows(['2025', 'hill.jpg'])
    await eventually(async () => assert.equal(await item('Photos').getAttribute('aria-selected'), 'true'))
    await tab.picture('navigation')

    await list.row('hill.jpg').dragTo(item('Letters'))
    await page.getByText(/moved/i).first().waitFor()
    await eventually(async () => assert.deepEqual(await namesIn(space.client, letters), ['hill.jpg']))
    await dropFiles(page, [{ name: 'note.txt', text: 'note' }], item('Archive'))
    await eventually(async () =>
      assert.deepEqual(await namesIn(space.client, space.id, '/Archive'), ['note.txt']),
    )
    assert.deepEqual(tab.complaints, [])
  })

  it('holds more than 100 libraries: favourites first, sections that stay collapsed, and a field that finds one', async (t) => {
    const [user, friend] = [await suite.server.signUp(), await suite.server.signUp()]
    for (let n = 1; n <= 105; n++) await user.createLibrary(`Folder ${n}`)
    const star = await user.createLibrary('Zebra')
    await user.post('/api/v2.1/starred-items/', { form: { repo_id: star, path: '/' } })
    const lent = await friend.createLibrary('Lent to me')
    await friend.put(`/api2/repos/${lent}/dir/shared_items/?p=/`, {
      form: { share_type: 'user', username: user.email, permission: 'r' },
    })
    const { body: group } = await user.post('/api/v2.1/groups/', { form: { name: 'Choir' } })
    const scores = await user.createLibrary('Scores')
    await user.put(`/api2/repos/${scores}/dir/shared_items/?p=/`, {
      form: { share_type: 'group', group_id: group.id, permission: 'rw' },
    })
    for (const [name, options] of [
      ['desktop', {}],
      ['phone', { ...PHONE, colorScheme: 'dark' }],
    ] as const) {
      const tab = await suite.openTab(t, user, options)
      if (tab === undefined) return
      const { page } = tab
      await tab.go('/home')
      const openMenu = async () => {
        if (name === 'phone') await page.getByRole('button', { name: 'Open menu' }).tap()
      }
      await openMenu()
      const tree = page.getByRole('tree', { name: 'Libraries' })
      const items = tree.getByRole('treeitem')
      const item = (label: string | RegExp) => tree.getByRole('treeitem', { name: label, exact: true })
      await item('Zebra').waitFor()
      const start = await items.allInnerTexts()
      assert.deepEqual(
        start.slice(0, 4).map((text) => text.replace(/\s+/g, ' ')),
        ['Starred 1', 'Zebra', 'My libraries 106', 'Folder 1'],
      )
      assert.deepEqual(
        start.slice(-3).map((text) => text.replace(/\s+/g, ' ')),
        ['Show all 106', 'From people 1', 'Lent to me'],
      )
      await tab.picture(`navigation-many-${name}`)
      await tab.checkAccess()

      // By keyboard alone: a collapsed section stays so on this device.
      await item(/^My libraries/).focus()
      await page.keyboard.press('ArrowLeft')
      await item('Folder 1').waitFor({ state: 'detached' })
      await page.keyboard.press('ArrowDown')
      assert.match(await page.evaluate('document.activeElement.innerText'), /^From people/)
      await page.reload()
      await openMenu()
      await item('Zebra').waitFor()
      assert.equal(await item('Folder 1').count(), 0)
      assert.equal(await item(/^My libraries/).getAttribute('aria-expanded'), 'false')

      // The field finds a library also in a collapsed section.
      const field = page.getByRole('searchbox', { name: 'Find a library' })
      await field.fill('folder 10')
      await item('Folder 105').waitFor()
      assert.equal(await items.count(), 7)
      await tab.checkAccess()
      await tab.picture(`navigation-found-${name}`)
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/app/library/**')
      await eventually(async () => assert.match(await page.title(), /Folder 100/))
      await openMenu()
      await field.fill('nothing like it')
      await page.getByText('No matching libraries').waitFor()
      await field.press('Escape')
      await item('Zebra').waitFor()
      await item(/^My libraries/).click()
      await item('Show all 106').click()
      await item('Folder 105').waitFor()
      assert.equal(await item('Show all 106').count(), 0)
      assert.deepEqual(tab.complaints, [])
    }
  })

  it('is a bottom bar on a phone, with the rest in a drawer', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/home')
    const bar = page.getByRole('navigation', { name: 'Quick navigation' })
    await bar.getByRole('link', { name: 'Libraries' }).tap()
    await page.getByRole('link', { name: 'Plans' }).tap()
    await page.getByRole('grid').waitFor()
    await bar.getByRole('button', { name: 'Open menu' }).tap()
    await page.getByRole('treeitem', { name: 'Plans' }).waitFor()
    await tab.checkAccess()
    await tab.picture('navigation-phone')
    await page.getByRole('link', { name: 'Starred', exact: true }).tap()
    await page.getByRole('heading', { name: 'Starred', exact: true }).waitFor()
    // Only the menu leads to it, so the menu is where the user is.
    const current = bar.locator('[aria-current]')
    assert.deepEqual(await current.allTextContents(), ['Menu'])
    await bar.getByRole('link', { name: 'Search' }).tap()
    await page.waitForURL('**/app/search')
    assert.deepEqual(await current.allTextContents(), ['Search'])
    await tab.go('/account/appearance')
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    assert.deepEqual(await current.allTextContents(), [])
    await page
      .locator('button[aria-current]')
      .and(page.getByLabel('Account', { exact: true }))
      .waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('shows the current theme and language in the account menu', async (t) => {
    const tab = await suite.openTab(t, await suite.server.signUp())
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const open = () => page.getByRole('button', { name: 'Account', exact: true }).click()
    await open()
    const choice = (name: string) => page.getByRole('menuitemradio', { name })
    assert.equal(await choice('System').getAttribute('aria-checked'), 'true')
    await tab.checkAccess()
    await choice('Dark').click()
    await page.locator('html[data-theme="dark"]').waitFor()
    await open()
    await page.getByRole('menuitemradio', { name: 'Dark', checked: true }).waitFor()
    await page.getByRole('menuitem', { name: 'Language: English' }).click()
    const language = page.getByLabel('Language')
    const unreviewed = 'Machine translation, not yet reviewed'
    const marked = language.locator(`optgroup[label="${unreviewed}"] option`)
    await marked.first().waitFor({ state: 'attached' })
    const machineMade = listLanguages()
      .map((language) => readLanguageInfo(language))
      .filter(({ reviewed }) => !reviewed)
    assert.deepEqual(
      (await marked.allTextContents()).toSorted(),
      machineMade.map(({ name }) => name).toSorted(),
    )
    assert.equal(await page.getByText(unreviewed).count(), 0)
    await language.selectOption('fr')
    const french = (await loadCompiledTexts('fr')).shell
    await page.getByText(french.unreviewed, { exact: true }).waitFor()
    await page.locator('html[lang="fr"][dir="ltr"]').waitFor()
    assert.equal(await page.getByLabel(french.language).inputValue(), 'fr')
    assert.deepEqual(tab.complaints, [])
  })
})
