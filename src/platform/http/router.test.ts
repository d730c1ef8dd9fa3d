import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Router } from './router.ts'

function routerOf(...paths: string[]): Router<string> {
  const router = new Router<string>()
  for (const path of paths) {
    const prefix = path.endsWith('*')
    const given = prefix ? path.slice(0, -1) : path
    router.add('GET', given, path, { prefix })
  }
  return router
}

describe('the router', () => {
  const router = routerOf(
    '/',
    '/repos/',
    '/repos/:id',
    '/repos/:id/dir/',
    '/repos/batch/',
    '/repos/:id/:name/x/',
    '/repos/batch/late',
    '/files/:ticket',
    '/files/:ticket/:name',
    '/token/*',
    '/thumb/:id/make/*',
    '/a.b-c_d',
  )
  const cases: [url: string, path: string | undefined, segments?: Record<string, string>][] = [
    ['/', '/'],
    ['/?p=/repos', '/'],
    ['/repos', '/repos/'],
    ['/repos/', '/repos/'],
    ['/repos/#x', '/repos/'],
    ['/repos/5', '/repos/:id', { id: '5' }],
    ['/repos/5/?p=/repos/6', '/repos/:id', { id: '5' }],
    ['/repos/5/dir', '/repos/:id/dir/', { id: '5' }],
    ['/repos/batch', '/repos/batch/'],
    ['/repos/batch/dir/', '/repos/:id/dir/', { id: 'batch' }],
    ['/repos/batch/late/x', '/repos/:id/:name/x/', { id: 'batch', name: 'late' }],
    ['/repos/batch/later', undefined],
    ['/Repos/', undefined],
    ['/repos//', '/repos/:id', { id: '' }],
    ['/repos//dir', '/repos/:id/dir/', { id: '' }],
    ['//repos', undefined],
    ['/files/t', '/files/:ticket', { ticket: 't' }],
    ['/files/t/', '/files/:ticket', { ticket: 't' }],
    ['/files/t/a%2Fb%20%C3%A9.txt', '/files/:ticket/:name', { ticket: 't', name: 'a/b é.txt' }],
    ['/files/t/%2525', '/files/:ticket/:name', { ticket: 't', name: '%25' }],
    ['/files/t/a+b?c%', '/files/:ticket/:name', { ticket: 't', name: 'a+b' }],
    ['/files/t/%', undefined],
    ['/files/t/%zz', undefined],
    ['/files/t/%E9', undefined],
    [`/files/t/${'x'.repeat(1024)}`, '/files/:ticket/:name', { ticket: 't', name: 'x'.repeat(1024) }],
    [`/files/t/${'x'.repeat(1025)}`, undefined],
    ['/%72epos', '/repos/'],
    ['/token', '/token/*'],
    ['/token/', '/token/*'],
    ['/token/a/b//c', '/token/*'],
    ['/token/%ff/b', '/token/*'],
    ['/token/%', '/token/*'],
    ['/tokens', undefined],
    ['/thumb/%ff/make/x', undefined],
    ['/thumb/7/make/%ff', '/thumb/:id/make/*', { id: '7' }],
    ['/thumb/7/make/x/y', '/thumb/:id/make/*', { id: '7' }],
    ['/thumb/7/made', undefined],
    ['/a.b-c_d', '/a.b-c_d'],
    ['/aXb-c_d', undefined],
    ['/:id', undefined],
    ['/constructor', undefined],
    ['http://example.org/repos/5?x', '/repos/:id', { id: '5' }],
    ['HTTPS://example.org', '/'],
    ['http:///repos', undefined],
    ['ftp://example.org/repos', undefined],
    ['xrepos', undefined],
    ['*', undefined],
    ['', undefined],
  ]
  for (const [url, path, segments = {}] of cases) {
    const shown = url.length > 60 ? `a path of ${url.length} characters` : url || 'nothing'
    it(`leads ${shown} to ${path ?? 'nothing'}`, () => {
      const found = router.find('GET', url)
      assert.equal(found?.target, path)
      if (found !== undefined) assert.deepEqual(Object.fromEntries(found.segments), segments)
    })
  }

  it('keeps methods apart, even where one has a path as it is written and another by name', () => {
    const mixed = new Router<string>()
    mixed.add('DELETE', '/repos/batch', 'delete all')
    mixed.add('GET', '/repos/:id', 'get one')
    assert.equal(mixed.find('GET', '/repos/batch')?.target, 'get one')
    assert.equal(mixed.find('DELETE', '/repos/batch')?.target, 'delete all')
    assert.equal(mixed.find('DELETE', '/repos/5'), undefined)
    assert.equal(mixed.find('PATCH', '/repos/5'), undefined)
  })
})
