import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { type SmtpReceiver, startSmtpReceiver } from '../support/smtp-receiver.ts'
import { eventually } from '../support/transfer.ts'
import { PHONE, webSuite } from '../web/support.ts'

describe('mail in the web app', () => {
  let smtp: SmtpReceiver
  const env: Record<string, string> = {}
  before(async () => {
    smtp = await startSmtpReceiver()
    env['CARREL_MAIL_URL'] = `smtp://127.0.0.1:${smtp.port}`
    env['CARREL_MAIL_FROM'] = 'Carrel <carrel@files.example.org>'
    env['CARREL_PUBLIC_URL'] = 'https://files.example.org'
  })
  const suite = webSuite({ env })
  after(() => smtp[Symbol.asyncDispose]())

  const addressIn = (text: string) =>
    /https:\/\/files\.example\.org\/app(\S+)/.exec(text)?.[1] ?? assert.fail(text)

  it('invites a user, who chooses a password', async (t) => {
    const tab = await suite.openTab(t, await suite.server.admin())
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/admin/users?new')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email', { exact: true }).fill('new@example.org')
    await dialog.getByText('The user chooses a password').waitFor()
    await tab.picture('admin-invite')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Invitation sent to new@example.org.').waitFor()
    const mails = await smtp.arrived(1)
    const mail = mails[0] ?? assert.fail('no mail')

    const own = await suite.openTab(t, undefined, PHONE)
    if (own === undefined) return
    await own.page.setContent(mail.html)
    await own.picture('mail-invitation')
    await own.go(addressIn(mail.text))
    await own.page.getByText('For new@example.org.').waitFor()
    await own.checkAccess()
    await own.picture('set-password-phone')
    const chosen = own.page.getByLabel('Password', { exact: true })
    await chosen.fill('secret')
    await own.page.getByText('2 more characters', { exact: true }).waitFor()
    await chosen.fill('secret12')
    await own.page.getByText('This password is common: others would guess it.').waitFor()
    await chosen.fill('chosen by me')
    await own.page.getByText('Long enough, and not common.').waitFor()
    await own.page.getByRole('button', { name: 'Save' }).click()
    await own.page.getByText('You can now sign in').waitFor()
    await Client.signIn(suite.server.url, 'new@example.org', 'chosen by me')
    assert.deepEqual([...tab.complaints, ...own.complaints], [])
  })

  it('lets a user choose when notifications are mailed', async (t) => {
    const ann = await suite.server.signUp({ email: 'ann@example.org' })
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account')
    await page.getByRole('link', { name: 'Notifications', exact: true }).click()
    const choice = page.getByLabel('Send by email')
    const options = await choice.locator('option').evaluateAll((all) => all.map((one) => one.textContent))
    assert.equal(options.length, 3)
    for (const mode of ['daily', 'off', 'at-once']) {
      await choice.selectOption(mode)
      await page.getByText('Saved.').first().waitFor()
      await eventually(async () => {
        assert.equal((await ann.get('/api/v2.1/user/')).body.mail_notices, mode)
      })
      await tab.go('/account/notifications')
      assert.equal(await choice.inputValue(), mode)
    }
    await tab.checkAccess()
    await tab.picture('account-notifications')
    assert.deepEqual(tab.complaints, [])
  })

  it('sends a link for a forgotten password, once', async (t) => {
    const tab = await suite.openTab(t, undefined, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await suite.server.signUp({ email: 'forgetful@example.org' })
    await tab.go('/')
    await page.getByRole('link', { name: 'Forgot password?' }).click()
    await page.getByLabel('Email').fill('forgetful@example.org')
    await tab.checkAccess()
    await tab.picture('forgot-password-dark')
    const before = smtp.received.length
    await page.getByRole('button', { name: 'Send link' }).click()
    await page.getByText('a link is on its way').waitFor()
    const mails = await smtp.arrived(before + 1)
    const address = addressIn(mails.at(-1)?.text ?? '')
    await tab.go(address)
    await page.getByLabel('Password', { exact: true }).fill('a new password')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('You can now sign in').waitFor()
    await page.reload()
    await page.getByText('This link no longer works').waitFor()
    await tab.checkAccess()
  })

  it('shows its state to administrators, and sends a test mail', async (t) => {
    const tab = await suite.openTab(t, await suite.server.admin())
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/admin')
    await page.getByRole('button', { name: 'Send me a test email' }).click()
    await page.getByText(`Test email sent to ${ADMIN.email}.`).waitFor()
    await page.getByText('Email is set up').waitFor()
    await tab.checkAccess()
    await tab.picture('admin-status-mail')
    await tab.go('/admin/setup')
    await page.getByText('Email is set up').waitFor()
    await tab.picture('admin-setup-mail')
    assert.deepEqual(tab.complaints, [])
  })

  it('sends a link to addresses, and keeps those that were refused', async (t) => {
    const user = await suite.server.signUp()
    const tab = await suite.openTab(t, user)
    if (tab === undefined) return
    const { page } = tab
    const library = await user.createLibrary('Shared by mail')
    const form = { repo_id: library, path: '/' }
    const { link } = (await user.post('/api/v2.1/share-links/', { form })).body
    const before = smtp.received.length
    await tab.go('/links')
    await page.getByRole('button', { name: 'More' }).last().click()
    await page.getByRole('menuitem', { name: 'Send by email' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email addresses').fill('bea@example.org, nobody')
    await dialog.getByLabel('Message (optional)').fill('As discussed')
    await tab.checkAccess()
    await tab.picture('mail-link')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('The link could not be sent to nobody.').waitFor()
    await page.getByText('Link sent to 1 address.').waitFor()
    assert.equal(await dialog.getByLabel('Email addresses').inputValue(), 'nobody')
    const mail = (await smtp.arrived(before + 1)).at(-1) ?? assert.fail('no mail')
    assert.match(mail.text, /As discussed/)
    assert.ok(mail.text.includes(new URL(link).pathname), mail.text)
    assert.deepEqual(tab.complaints, [])
  })
})
