import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ADMIN } from '../support/server.ts'
import { PHONE, webSuite } from './support.ts'

describe('signing in', () => {
  const suite = webSuite()

  it('leads from the root of the site to the libraries, and out again', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    await page.goto(suite.server.url)
    await page.getByLabel('Email').fill(ADMIN.email)
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password)
    await tab.picture('sign-in')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/app/')
    await page.reload()
    await page.getByRole('button', { name: 'Account' }).click()
    assert.equal(tab.complaints.join(), '')
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    // Requests that were on their way when the token ended are answered with 401.
    assert.deepEqual(
      tab.complaints.filter((text) => !text.includes('status of 401')),
      [],
    )
  })

  it('explains a failure in the chosen language', async (t) => {
    const tab = await suite.openTab(t, undefined, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByLabel('Language').selectOption('de')
    await page.getByLabel('E-Mail').fill(ADMIN.email)
    await page.getByLabel('Passwort', { exact: true }).fill('not it')
    await page.getByRole('button', { name: 'Anmelden' }).click()
    await page.getByText('E-Mail oder Passwort ist falsch').waitFor()
    await tab.checkAccess()
    await tab.picture('sign-in-phone-dark')
    assert.equal(await page.locator('html').getAttribute('lang'), 'de')
  })

  it('is done by a client for one tab, which opens the requested page', async (t) => {
    const person = await suite.server.signUp()
    const library = await person.createLibrary('Plans')
    const open = async (tab: NonNullable<Awaited<ReturnType<typeof suite.openTab>>>, next: string) => {
      const { token } = (await person.post('/api2/client-login/')).body
      const query = new URLSearchParams({ token, next })
      await tab.page.goto(`${suite.server.url}/client-login/?${query.toString()}`)
      return token
    }
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    await open(tab, `/library/${library}/Plans/`)
    await tab.page.getByRole('navigation', { name: 'Main' }).waitFor()
    await tab.page.waitForURL(`${suite.server.url}/app/library/${library}**`)
    assert.equal(await tab.page.evaluate(() => localStorage.getItem('carrel.token')), null)
    assert.deepEqual(tab.complaints, [])
    // A page of another site is not opened, and a used link asks for the password.
    const other = await suite.openTab(t)
    if (other === undefined) return
    const used = await open(other, '//evil.example/')
    await other.page.waitForURL(`${suite.server.url}/app/`)
    await other.page.getByRole('navigation', { name: 'Main' }).waitFor()
    const third = await suite.openTab(t)
    if (third === undefined) return
    await third.page.goto(`${suite.server.url}/app/client-login?next=%2F%2Fevil.example%2F#${used}`)
    await third.page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(new URL(third.page.url()).origin, suite.server.url)
  })

  it('is not done for a visitor who follows the link of a client from another site', async (t) => {
    const attacker = await suite.server.signUp()
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const { url } = suite.server
    await page.route('http://elsewhere.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>Another site</p>' }),
    )
    for (const address of ['client-login/?token=', 'app/client-login#']) {
      const { token } = (await attacker.post('/api2/client-login/')).body
      await page.goto('http://elsewhere.example/')
      await page.evaluate(`location.href = ${JSON.stringify(`${url}/${address}${token}`)}`)
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      assert.equal(await page.evaluate(`sessionStorage.getItem('carrel.token')`), null)
      const form = { token, device_id: 'b'.repeat(40), device_name: 'Firefox' }
      assert.equal((await suite.server.anonymous.post('/api/v2.1/client-login/', { form })).status, 200)
    }
  })

  it('is required again when the token was revoked elsewhere', async (t) => {
    const person = await suite.server.signUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    await tab.go('/activity')
    await tab.page.getByRole('navigation', { name: 'Main' }).waitFor()
    await person.post('/api2/logout-device/')
    await tab.page.reload()
    await tab.page.getByRole('button', { name: 'Sign in' }).waitFor()
  })
})
