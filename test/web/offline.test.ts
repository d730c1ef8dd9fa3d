import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { eventually, namesIn, uploadFile } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { cacheNames, controlled, keptUrls, openProxy, until } from './offline-support.ts'
import { webSuite } from './support.ts'

const SECRET = 'a password for it'

describe('the installed app', () => {
  const suite = webSuite()

  async function opened(t: TestContext) {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client, { serviceWorkers: 'allow' })
    if (tab === undefined) return undefined
    const proxy = await openProxy(t, suite.server.url)
    const { page } = tab
    await page.goto(`${proxy.url}/app/library/${space.id}`)
    await controlled(page)
    return { space, tab, page, proxy, list: new PagedTable(tab) }
  }

  it('shows the last lists and starred files without a server, and forgets them at sign-out', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, page, proxy, list, tab } = here
    await uploadFile(space.client, space.id, '/Photos/plan.txt', 'starred text')
    await space.client.post('/api/v2.1/starred-items/', {
      form: { repo_id: space.id, path: '/Photos/plan.txt' },
    })
    await page.goto(`${proxy.url}/app/`)
    await page.getByRole('link', { name: 'Plans' }).first().waitFor()
    await page.goto(`${proxy.url}/app/library/${space.id}`)
    await list.link('notes.md').waitFor()
    await page.goto(`${proxy.url}/app/starred`)
    await page.getByRole('link', { name: 'plan.txt' }).waitFor()
    await eventually(async () => {
      const urls = await keptUrls(page, 'carrel-data-')
      assert.ok(
        urls.some((url) => url.startsWith('/app/offline-file')),
        urls.join(' '),
      )
      assert.ok(urls.includes(`/api/v2.1/repos/${space.id}/dir/?p=%2F`), urls.join(' '))
    })

    proxy.cut()
    await page.goto(`${proxy.url}/app/library/${space.id}`)
    await list.link('notes.md').waitFor()
    await page.getByText('The server cannot be reached').waitFor()
    await tab.checkAccess()
    await tab.picture('offline-folder')
    await page.goto(`${proxy.url}/app/view/${space.id}?p=/Photos/plan.txt`)
    await page.getByText('starred text').waitFor()

    // The next user sees nothing of it.
    await page.goto(`${proxy.url}/app/library/${space.id}`)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await eventually(async () => assert.deepEqual(await cacheNames(page, 'carrel-data-'), []))
  })

  it('keeps nothing of a session that ends with the tab, nor names of an encrypted library', async (t) => {
    const person = await suite.server.signUp()
    const made = await person.post('/api/v2.1/repos/', { form: { repo_name: 'Secret', passwd: SECRET } })
    const secret: string = made.body.repo_id
    await person.post(`/api/v2.1/repos/${secret}/set-password/`, { form: { password: SECRET } })
    const tab = await suite.openTab(t, person, { serviceWorkers: 'allow' })
    if (tab === undefined) return
    const proxy = await openProxy(t, suite.server.url)
    const { page } = tab
    await page.goto(`${proxy.url}/app/`)
    await controlled(page)
    await page.goto(`${proxy.url}/app/library/${secret}`)
    await page.getByText('This folder is empty').waitFor()
    let kept: string[] = []
    await eventually(async () => {
      kept = await keptUrls(page, 'carrel-data-')
      assert.ok(kept.some((url) => url.endsWith(`/repos/${secret}/`)))
    })
    assert.ok(!kept.some((url) => url.includes('/dir/')), kept.join(' '))

    await page.evaluate(`
      sessionStorage.setItem('carrel.token', localStorage.getItem('carrel.token'))
      localStorage.removeItem('carrel.token')`)
    await page.goto(`${proxy.url}/app/`)
    await page.getByRole('link', { name: 'Secret' }).first().waitFor()
    await eventually(async () => assert.deepEqual(await cacheNames(page, 'carrel-data-'), []))
  })

  it('offers to reload when the server has a new version', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { page, proxy, list } = here
    await list.link('notes.md').waitFor()
    proxy.state.newBuild = true
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('A new version of Carrel is available.').waitFor()
    await page.evaluate(`globalThis.isOldPage = true`)
    await page.getByRole('button', { name: 'Reload' }).click()
    await until(page, `globalThis.isOldPage === undefined`)
    await list.link('notes.md').waitFor()
  })

  it('takes files that another app shares', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, page, list, tab } = here
    await list.link('notes.md').waitFor()
    // As the browser of a phone sends them.
    await page.evaluate(`
      const data = new DataTransfer()
      data.items.add(new File(['shared bytes'], 'shared photo.txt', { type: 'text/plain' }))
      const form = document.createElement('form')
      form.method = 'post'
      form.enctype = 'multipart/form-data'
      form.action = '/app/share'
      const input = document.createElement('input')
      input.type = 'file'
      input.name = 'files'
      input.files = data.files
      form.append(input)
      document.body.append(form)
      form.submit()`)
    const picker = page.getByRole('dialog', { name: 'Save “shared photo.txt” to…' })
    await picker.getByRole('treeitem', { name: 'Plans' }).click()
    await tab.checkAccess()
    await picker.getByRole('button', { name: 'Save here' }).click()
    await list.link('shared photo.txt').waitFor()
    assert.ok((await namesIn(space.client, space.id)).includes('shared photo.txt'))
    assert.deepEqual(await cacheNames(page, 'carrel-shared'), [])
  })

  for (const policy of ['unsafe-url', 'no-referrer']) {
    it(`takes no files of another site, with the referrer policy ${policy}`, async (t) => {
      const here = await opened(t)
      if (here === undefined) return
      const { page, list, tab } = here
      await list.link('notes.md').waitFor()
      const { origin } = new URL(page.url())
      await page.route('http://elsewhere.example/', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<meta name="referrer" content="${policy}"><form method="post" enctype="multipart/form-data" action="${origin}/app/share"><input name="text" value="planted"></form>`,
        }),
      )
      await page.goto('http://elsewhere.example/')
      await page.evaluate(`document.querySelector('form').submit()`)
      await page.waitForURL(`${origin}/app/`)
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      assert.deepEqual(await cacheNames(page, 'carrel-shared'), [])
      assert.deepEqual(tab.complaints, [])
    })
  }
})
