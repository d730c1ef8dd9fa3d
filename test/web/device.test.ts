import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

const API = '/api/v2.1/device-authorization/'

describe('the page that connects a program', () => {
  const suite = webSuite()

  const begin = async () => {
    const form = { client_id: 'carrel', device_name: 'laptop' }
    return (await suite.server.anonymous.post(API, { form })).body
  }
  const poll = async (device_code: string) => {
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const form = { grant_type, client_id: 'carrel', device_code }
    return (await suite.server.anonymous.post(`${API}token/`, { form })).body
  }

  it('asks to sign in, shows who asks, and grants a token that is listed', async (t) => {
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const codes = await begin()
    await tab.go(`/device#${codes.user_code}`)
    await page.getByLabel('Email').fill(ADMIN.email)
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This program asks for access to your files.').waitFor()
    for (const shown of [codes.user_code, 'laptop', 'carrel']) {
      await page.getByText(shown, { exact: true }).waitFor()
    }
    assert.equal((await poll(codes.device_code)).error, 'authorization_pending')
    await tab.checkAccess()
    await tab.picture('device')
    await page.getByLabel('Permission').selectOption('r')
    await page.getByRole('button', { name: 'Allow access' }).click()
    await page.getByText('Access allowed').waitFor()
    assert.equal((await poll(codes.device_code)).scope, 'r')
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('carrel (laptop)').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('signs in an app that opened the page itself, to a session that is listed', async (t) => {
    const { anonymous, url } = suite.server
    const query = {
      shib_platform: 'linux',
      shib_device_id: 'e'.repeat(40),
      shib_device_name: 'Desk',
      shib_client_version: '9.0.16',
      shib_platform_version: '',
    }
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    const { link } = (await anonymous.post('/api2/client-sso-link/', { query })).body
    const token = /\/client-sso\/([^/]+)/.exec(link)?.[1]
    const status = async () => (await anonymous.get(`/api2/client-sso-link/${token}/`)).body
    await page.goto(link)
    await page.getByLabel('Email').fill(ADMIN.email)
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This app asks to sign in to your account.').waitFor()
    for (const shown of ['linux 9.0.16', 'Desk']) await page.getByText(shown, { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Permission').count(), 0)
    assert.deepEqual(await status(), { status: 'waiting' })
    await tab.checkAccess()
    await tab.picture('device-session')
    await page.getByRole('button', { name: 'Allow access' }).click()
    await page.getByText('Access allowed').waitFor()
    const { apiToken, ...others } = await status()
    assert.deepEqual(others, { status: 'success', username: ADMIN.email })
    const client = new Client(url, apiToken, ADMIN.email)
    assert.equal((await client.get('/api2/account/info/')).status, 200)
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByText('Desk', { exact: true }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('takes a code that is typed, explains a wrong one, and denies access on a phone in the dark', async (t) => {
    const person = await suite.server.signUp()
    const tab = await suite.openTab(t, person, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    const codes = await begin()
    await tab.go('/device')
    await page.getByLabel('Code').fill('bbbb bbbb')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This code is not valid.').waitFor()
    await tab.checkAccess()
    await tab.picture('device-code-phone-dark')
    await page.getByLabel('Code').fill(codes.user_code.toLowerCase())
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Deny' }).waitFor()
    await fitsWidth(page)
    await tab.checkAccess()
    await tab.picture('device-phone-dark')
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('Access denied').waitFor()
    assert.equal((await poll(codes.device_code)).error, 'access_denied')
  })
})
