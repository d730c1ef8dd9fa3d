import './browser-globals.ts'
import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import {
  folderUrl,
  historyUrl,
  revisionUrl,
  searchUrl,
  snapshotUrl,
} from '../../../web/src/navigation/page-urls.ts'
import { linksWork } from '../../../web/src/onboarding/links-work.ts'
import { ancestorsOf, join, nameOf, normalizePath, parentOf } from '../../../web/src/paths.ts'
import {
  dayOf,
  expiryOf,
  isComplete,
  makePassword,
  nameOfRights,
  newDraft,
  rightsNamed,
} from '../../../web/src/sharing/link-draft.ts'
import { headingId, targetOf } from '../../../web/src/viewer/markdown-links.ts'

describe('the form of a share link', () => {
  it('computes when the link expires', (t) => {
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-16T12:00:00Z') })
    t.after(() => mock.timers.reset())
    assert.equal(expiryOf({ until: 'never', date: '2026-12-24' }), '')
    assert.equal(expiryOf({ until: '7', date: '' }), '2026-11-23T12:00:00.000Z')
    const end = new Date(expiryOf({ until: 'date', date: '2026-12-24' }))
    assert.deepEqual([dayOf(end), end.getHours(), end.getMinutes()], ['2026-12-24', 23, 59])
  })

  it('is complete once a password or date that was asked for is there', () => {
    assert.equal(isComplete(newDraft), true)
    assert.equal(isComplete({ ...newDraft, secured: true }), false)
    assert.equal(isComplete({ ...newDraft, secured: true, password: 'x' }), true)
    assert.equal(isComplete({ ...newDraft, until: 'date' }), false)
    assert.equal(isComplete({ ...newDraft, until: 'date', date: '2026-12-24' }), true)
  })

  it('maps the names of permissions both ways', () => {
    for (const name of ['download', 'view', 'upload'] as const) {
      assert.equal(nameOfRights(rightsNamed[name]), name)
    }
    assert.equal(nameOfRights(undefined), 'download')
  })

  it('suggests passwords without letters that look alike', () => {
    const passwords = Array.from({ length: 50 }, makePassword)
    assert.equal(new Set(passwords).size, 50)
    for (const password of passwords) assert.match(password, /^[a-hj-km-np-z2-9]{14}$/)
  })
})

describe('URLs of pages', () => {
  it('keep every name in the query', () => {
    assert.equal(folderUrl('L'), '/library/L')
    assert.equal(folderUrl('L', '/a b/100%+?#&.txt'), '/library/L?p=/a+b/100%25%2B%3F%23%26.txt')
    assert.equal(historyUrl('L', '/a'), '/history/L?p=/a')
    assert.equal(revisionUrl('L', '/a', 'c'), '/view/L?p=/a&commit=c')
    assert.equal(snapshotUrl('L', 'c'), '/history/L?commit=c')
    assert.equal(snapshotUrl('L', 'c', '/a/b'), '/history/L?commit=c&at=/a/b')
    assert.equal(new URLSearchParams(searchUrl('a&b=c ü').split('?')[1]).get('q'), 'a&b=c ü')
  })
})

describe('paths', () => {
  it('are joined and split', () => {
    assert.deepEqual([join('/', 'a'), join('/a', 'b')], ['/a', '/a/b'])
    assert.deepEqual([parentOf('/a'), parentOf('/a/b'), nameOf('/a/b')], ['/', '/a', 'b'])
    assert.deepEqual(['', '/', 'a/', '//a//b/'].map(normalizePath), ['/', '/', '/a', '/a/b'])
    assert.deepEqual(ancestorsOf('/a/b'), [
      { name: 'a', path: '/a' },
      { name: 'b', path: '/a/b' },
    ])
    assert.deepEqual(ancestorsOf('/'), [])
  })
})

describe('links in Markdown', () => {
  it('lead to files of the library, to headings, or to web sites', () => {
    const path = '/docs/read me.md'
    assert.deepEqual(targetOf(path, 'other.md'), { kind: 'inside', path: '/docs/other.md', isFolder: false })
    assert.deepEqual(targetOf(path, '../a%20b/'), { kind: 'inside', path: '/a b', isFolder: true })
    assert.deepEqual(targetOf(path, '/top.md'), { kind: 'inside', path: '/top.md', isFolder: false })
    assert.deepEqual(targetOf(path, '#Über uns!'), { kind: 'heading', id: headingId('Über uns') })
    assert.deepEqual(targetOf(path, 'https://example.org/x'), {
      kind: 'away',
      href: 'https://example.org/x',
    })
  })

  it('lead nowhere if they would run a script, however they are written', () => {
    for (const href of [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
    ]) {
      assert.equal(targetOf('/a.md', href), undefined, href)
    }
    assert.equal(targetOf('/a.md', '//evil.example/x'), undefined)
  })
})

describe('the address in links', () => {
  it('works if others reach the server there', () => {
    assert.equal(linksWork('https://files.example.org', 'https://files.example.org'), 'work')
    assert.equal(linksWork('http://192.168.1.5:8000/', 'http://192.168.1.5:8000'), 'work')
    assert.equal(linksWork('https://example.org/files', 'https://example.org/files/'), 'work')
  })

  it('differs from that of the browser behind a proxy that is not trusted', () => {
    assert.equal(linksWork('http://files.example.org', 'https://files.example.org'), 'differs')
    assert.equal(linksWork('https://old.example.org', 'https://files.example.org'), 'differs')
    assert.equal(linksWork('https://example.org', 'https://example.org/files'), 'differs')
  })

  it('is of no use to others if it is that of the machine itself', () => {
    for (const url of ['http://127.0.0.1:8000', 'http://localhost:8000', 'http://[::1]:8000']) {
      assert.equal(linksWork(url, url), 'local')
    }
  })
})
