import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { webSuite } from './support.ts'

describe('a server that cannot be reached', () => {
  const suite = webSuite()

  it('is announced on every page, until it answers again', async (t) => {
    const person = await suite.server.signUp()
    await person.createLibrary('Photos')
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByText('Photos').first().waitFor()
    const banner = page.getByRole('status').filter({ hasText: 'The server cannot be reached' })
    assert.equal(await banner.count(), 0)
    const calls = /\/api2?\//
    await page.route(calls, (route) => route.abort('connectionrefused'))
    await page.getByRole('link', { name: 'Activity' }).click()
    await banner.waitFor()
    await tab.picture('shell-unreachable')
    await tab.checkAccess()
    await page.unroute(calls)
    await banner.waitFor({ state: 'detached' })
  })
})
