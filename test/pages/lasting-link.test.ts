import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startServer } from '../support/server.ts'

describe('a smart link', () => {
  it('redirects into the web app for every kind of item and caller', async () => {
    await using server = await startServer()
    const person = await server.signUp()
    const id = await person.createLibrary('Plans')
    const query = { repo_id: id, path: '/', is_dir: 'true' }
    const { smart_link: link, smart_link_token: token } = (await person.get('/api/v2.1/smart-link/', query))
      .body
    assert.equal(link, `${server.url}/smart-link/${token}/`)
    const led = await server.anonymous.get(`/smart-link/${token}/`)
    assert.equal(led.status, 302)
    assert.equal(led.headers.get('location'), `../../app/smart-link/${token}`)
    assert.equal((await server.anonymous.get(`/app/smart-link/${token}`)).headers.get('location'), null)
  })

  it('cannot redirect out of the app', async () => {
    await using server = await startServer()
    for (const sent of ['..%2F..%2F..', '%2F%2Fevil.example', 'a%0d%0aX: y', '%22%3E%3Cscript%3E']) {
      const led = await server.anonymous.get(`/smart-link/${sent}/`)
      if (led.status === 302) {
        assert.match(led.headers.get('location') ?? '', /^\.\.\/\.\.\/app\/smart-link\/[^/\s"<>]+$/)
      } else assert.ok(led.status === 400 || led.status === 404, `${sent}: ${led.status}`)
    }
  })
})
