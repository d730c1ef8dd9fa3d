import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { addApp, codeOf } from '../support/second-factors.ts'
import { eventually } from '../support/transfer.ts'
import { fitsWidth, PHONE, type Tab, webSuite } from './support.ts'

const PASSWORD = 'a long password'
const STEP = 30

/** A code that was not used yet: the one of the next step, which is taken, too. */
const nextCode = (secret: string) => codeOf(secret, Date.now() / 1000 + STEP)

async function enterPassword({ page }: Tab, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const shownSecret = async ({ page }: Tab) =>
  (await page.locator('.app-secret code').innerText()).replaceAll(' ', '')

const isSignedIn = ({ page }: Tab) => page.getByRole('navigation', { name: 'Main' }).waitFor()

async function signOut({ page }: Tab): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
}

describe('two-step sign-in', () => {
  const suite = webSuite()

  it('is set up on the account page, asked for at sign-in, and remembered by a trusted browser', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/security')
    await enterPassword(tab, ann.email)
    await page.getByRole('button', { name: 'Set up authenticator app' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await tab.checkAccess()
    await tab.picture('two-step-setup')
    const secret = await shownSecret(tab)
    await dialog.getByLabel('Code that the app shows').fill('000000')
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await dialog.getByRole('alert').waitFor()
    assert.equal(await shownSecret(tab), secret, 'a wrong code keeps the secret that was scanned')
    await dialog.getByLabel('Code that the app shows').fill(codeOf(secret))
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    const codes = page.getByRole('list', { name: 'Your recovery codes' })
    await codes.waitFor()
    assert.equal(await codes.getByRole('listitem').count(), 10)
    const recovery = await codes.getByRole('listitem').first().innerText()
    await tab.checkAccess()
    await tab.picture('two-step-recovery-codes')
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('10 recovery codes left.').waitFor()
    await tab.checkAccess()
    await tab.picture('two-step-on')

    await signOut(tab)
    await enterPassword(tab, ann.email)
    await page.getByRole('heading', { name: 'Enter a code' }).waitFor()
    await tab.checkAccess()
    await tab.picture('two-step-code')
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('This code is not valid.').waitFor()
    await page.getByLabel('Code', { exact: true }).fill(nextCode(secret))
    await page.getByLabel('Do not ask for a code on this device').check()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await isSignedIn(tab)

    await signOut(tab)
    await enterPassword(tab, ann.email)
    await isSignedIn(tab)
    await tab.go('/account/security')
    const devices = page.getByRole('list', { name: 'Devices that need no code' })
    await tab.picture('two-step-trusted')
    await devices.getByRole('button', { name: /Ask for a code/ }).click()
    await devices.waitFor({ state: 'detached' })

    await signOut(tab)
    await enterPassword(tab, ann.email)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recovery)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await isSignedIn(tab)
    await tab.go('/account/security')
    await page.getByText('9 recovery codes left.').waitFor()
    await page.getByRole('button', { name: 'New recovery codes' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'New recovery codes' }).click()
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('10 recovery codes left.').waitFor()
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('button', { name: 'Set up authenticator app' }).waitFor()
    // The refused calls of wrong and missing codes, and requests that were on their way when a session ended.
    const expected = /status of (?:400|401)/
    assert.deepEqual(
      tab.complaints.filter((text) => !expected.test(text)),
      [],
    )
  })

  it('is turned off by an administrator for somebody who lost everything', async (t) => {
    const ann = await suite.server.signUp()
    await addApp(ann)
    const tab = await suite.openTab(t, await suite.server.admin())
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/admin/users')
    const row = page.getByRole('row').filter({ hasText: ann.email })
    await row.getByText('Two-step sign-in').last().waitFor()
    await row.getByRole('button', { name: /More/ }).click()
    await page.getByRole('menuitem', { name: 'Turn off two-step sign-in' }).click()
    await page.getByText('and is told by mail').waitFor()
    await tab.picture('two-step-reset')
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off two-step sign-in' }).click()
    await page.getByText(`Two-step sign-in of ${ann.email} is off`).waitFor()
    assert.equal((await ann.get('/api/v2.1/second-factors/')).body.totp, null)
    assert.deepEqual(tab.complaints, [])
  })

  const looks = [
    ['en', 'light', {}],
    ['de', 'dark', PHONE],
    ['zh', 'light', PHONE],
    ['zh', 'dark', {}],
  ] as const
  for (const [language, colorScheme, size] of looks) {
    it(`fits its pages in ${language}, ${colorScheme}${'isMobile' in size ? ', on a phone' : ''}`, async (t) => {
      const ann = await suite.server.signUp()
      const { secret } = await addApp(ann)
      const name = (what: string) =>
        `two-step-${what}-${language}-${colorScheme}${'isMobile' in size ? '-phone' : ''}`
      const tab = await suite.openTab(t, undefined, { ...size, colorScheme })
      if (tab === undefined) return
      const { page } = tab
      await tab.go('/account/security')
      await page.locator('select').selectOption(language)
      await page.locator('[name=username]').fill(ann.email)
      await page.locator('[name=password]').fill(PASSWORD)
      await page.locator('[type=submit]').click()
      await page.locator('[autocomplete=one-time-code]').waitFor()
      await tab.checkAccess()
      await tab.picture(name('code'))
      await page.locator('[autocomplete=one-time-code]').fill(nextCode(secret))
      await page.locator('[type=submit]').click()
      const card = page.locator('section.account-card')
      await card.scrollIntoViewIfNeeded()
      await fitsWidth(page)
      await tab.checkAccess()
      await tab.picture(name('account'))
      await card.getByRole('button').first().click()
      await page.locator('.qr-code').waitFor()
      await tab.checkAccess()
      await tab.picture(name('setup'))
    })
  }
})

describe('two-step sign-in that the server demands', () => {
  const now = webSuite({ env: { CARREL_SECOND_FACTOR: 'everyone', CARREL_SECOND_FACTOR_GRACE_DAYS: '0' } })
  const soon = webSuite({ env: { CARREL_SECOND_FACTOR: 'everyone', CARREL_SECOND_FACTOR_GRACE_DAYS: '7' } })

  const open = async (t: TestContext, suite: typeof now, more = {}) => {
    const { accounts } = suite.server.running.services
    const email = `ann-${Math.random()}@example.org`
    await accounts.create({ email, password: PASSWORD }, undefined)
    return { email, tab: await suite.openTab(t, undefined, more) }
  }

  it('is set up at the sign-in', async (t) => {
    const { email, tab } = await open(t, now, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await enterPassword(tab, email)
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await tab.checkAccess()
    await tab.picture('two-step-demanded')
    const secret = await shownSecret(tab)
    await page.getByLabel('Code that the app shows').fill('000000')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('This code is not valid.').waitFor()
    await page.getByLabel('Code that the app shows').fill(codeOf(secret))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('list', { name: 'Your recovery codes' }).waitFor()
    await tab.checkAccess()
    await tab.picture('two-step-demanded-codes')
    assert.equal(
      await page.evaluate(`localStorage.getItem('carrel.token')`),
      null,
      'not before they were read',
    )
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await eventually(async () =>
      assert.notEqual(await page.evaluate(`localStorage.getItem('carrel.token')`), null),
    )
    await tab.go('/account/security')
    await page.getByText('10 recovery codes left.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Turn off' }).count(), 0)
  })

  it('is announced at the sign-ins before', async (t) => {
    const { email, tab } = await open(t, soon)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await enterPassword(tab, email)
    await page.getByText('lets you sign in only with a password and a code').waitFor()
    await tab.checkAccess()
    await tab.picture('two-step-announced')
    await page.getByRole('button', { name: 'Later' }).click()
    await isSignedIn(tab)
    await signOut(tab)
    await enterPassword(tab, email)
    await page.getByRole('button', { name: 'Set up now' }).click()
    await page.getByText('This server requires it from').waitFor()
    assert.equal(new URL(page.url()).pathname, '/app/account/security')
    assert.deepEqual(
      tab.complaints.filter((text) => !text.includes('status of 401')),
      [],
    )
  })
})
