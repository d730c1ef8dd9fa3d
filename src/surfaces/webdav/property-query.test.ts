import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { DeadProperty } from '../../libraries/attributes/property-store.ts'
import type { FileLock } from '../../libraries/library/lock-store.ts'
import { type DescribedItem, ShownLocks } from './live-properties.ts'
import { type Listed, PropertyQuery } from './property-query.ts'

const address = { prefix: '/dav', snapshot: undefined, library: 'Notes', path: ROOT, hasSlash: true }
const file: DescribedItem = {
  path: '/a & b.txt' as LibraryPath,
  href: '/dav/Notes/a%20%26%20b.txt',
  isFolder: false,
  name: 'a & b.txt',
  mtime: 1_700_000_000,
  createdAt: undefined,
  size: 3,
  id: 'abc',
  checksums: undefined,
  quota: undefined,
}
const folder: DescribedItem = { ...file, isFolder: true, size: 0, quota: { used: 5, available: 7 } }

function listed(
  item: DescribedItem,
  dead: readonly DeadProperty[] = [],
  locks?: readonly FileLock[],
): Listed {
  const names = new Map([[1, 'Ann <a@b>']])
  return { item, context: { locks: locks && new ShownLocks(address, 1000, locks, names) }, dead }
}

const parse = (body: string) => PropertyQuery.parse(Buffer.from(body))
const prop = (names: string) => parse(`<propfind xmlns="DAV:"><prop>${names}</prop></propfind>`)
const around = (...parts: string[]) =>
  `<d:response><d:href>${file.href}</d:href>${parts.join('')}</d:response>`
const found = (xml: string) =>
  `<d:propstat><d:prop>${xml}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>`
const missing = (xml: string) =>
  `<d:propstat><d:prop>${xml}</d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>`

const color: DeadProperty = { namespace: 'urn:x', name: 'color', xml: '<color xmlns="urn:x">red</color>' }

describe('the properties that a PROPFIND asks for', () => {
  it('are written in the order asked, and those an item does not have are named', () => {
    const query = prop('<getcontentlength/><resourcetype/><color xmlns="urn:x"/><displayname/>')
    const name = '<d:displayname>a &#38; b.txt</d:displayname>'
    assert.equal(
      query.responseXml(listed(file)),
      around(
        found(`<d:getcontentlength>3</d:getcontentlength><d:resourcetype/>${name}`),
        missing('<n1:color/>'),
      ),
    )
    assert.equal(
      query.responseXml(listed(folder, [color])),
      around(
        found(`<d:resourcetype><d:collection/></d:resourcetype>${color.xml}${name}`),
        missing('<d:getcontentlength/>'),
      ),
    )
    const none = prop('<color xmlns="urn:x"/>').responseXml(listed(file))
    assert.equal(none, around(missing('<n1:color/>')))
    assert.equal(prop('').responseXml(listed(file)), around(found('')))
  })

  it('of every item are the usual ones, its dead ones and the included ones', () => {
    for (const body of ['', '<propfind xmlns="DAV:"><allprop/></propfind>']) {
      const xml = parse(body).responseXml(listed(folder, [color]))
      assert.match(xml, /<d:getetag>"abc"<\/d:getetag>/)
      assert.ok(xml.includes(color.xml))
      assert.ok(!xml.includes('quota') && !xml.includes('404'))
    }
    const included = parse(
      '<propfind xmlns="DAV:"><allprop/><include><quota-used-bytes/></include></propfind>',
    )
    assert.match(included.responseXml(listed(folder)), /<d:quota-used-bytes>5<\/d:quota-used-bytes>/)
    const names = parse('<propfind xmlns="DAV:"><propname/></propfind>').responseXml(listed(file, [color]))
    assert.ok(names.includes('<d:displayname/>') && names.includes('<color xmlns="urn:x"/>'))
    assert.ok(!names.includes('red'))
  })

  it('say what has to be read', () => {
    const needs = ({ needsDead, needsLocks, needsQuota }: PropertyQuery) => [
      needsDead,
      needsLocks,
      needsQuota,
    ]
    assert.deepEqual(needs(prop('<resourcetype/><supportedlock/>')), [false, false, false])
    assert.deepEqual(needs(prop('<lockdiscovery/>')), [false, true, false])
    assert.deepEqual(needs(prop('<quota-available-bytes/>')), [false, false, true])
    assert.deepEqual(needs(prop('<creationdate/>')), [true, false, false])
    assert.deepEqual(needs(prop('<resourcetype xmlns="urn:x"/>')), [true, false, false])
    assert.deepEqual(needs(parse('')), [true, true, false])
  })

  it('can be cached with their body if they depend on entries alone', () => {
    const one = prop('<getetag/><displayname/>')
    assert.match(one.cacheKey ?? '', /^\d+ <propfind .*<\/propfind>$/)
    assert.notEqual(one.cacheKey, prop('<displayname/><getetag/>').cacheKey)
    for (const name of ['<lockdiscovery/>', '<quota-used-bytes/>', '<creationdate/>', '<x xmlns="urn:x"/>']) {
      assert.equal(prop(`<getetag/>${name}`).cacheKey, undefined, name)
    }
    assert.equal(parse('').cacheKey, undefined)
    assert.equal(prop(`<getetag/>${' '.repeat(2000)}`).cacheKey, undefined)
  })

  it('show the locks that cover an item, with the name of a holder in the web app', () => {
    const lock: FileLock = { path: file.path, accountKey: 1, lockedAt: 0, expiresAt: null }
    const query = prop('<lockdiscovery/><supportedlock/>')
    const xml = query.responseXml(listed(file, [], [lock]))
    assert.match(xml, /<d:owner>Ann &#60;a@b&#62;<\/d:owner><d:timeout>Infinite<\/d:timeout>/)
    const elsewhere = { ...lock, path: '/other' as LibraryPath }
    assert.match(query.responseXml(listed(file, [], [elsewhere])), /<d:lockdiscovery\/>/)
    // Nothing can be locked in the past.
    assert.equal(query.responseXml(listed(file)), around(missing('<d:lockdiscovery/><d:supportedlock/>')))
  })

  it('are parsed once for equal bodies, and again for any other', () => {
    const body = '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>'
    assert.equal(parse(body), parse(body))
    assert.notEqual(parse(body), parse(body.replace('getetag', 'getetaG')))
    const long = `${body}${' '.repeat(2000)}`
    assert.notEqual(parse(long), parse(long))
    assert.equal(parse(long).responseXml(listed(file)), parse(body).responseXml(listed(file)))
    for (let n = 0; n < 1000; n++) {
      const name = `p${n}`
      const expected = around(missing(`<n1:${name}/>`))
      assert.equal(prop(`<${name} xmlns="urn:x"/>`).responseXml(listed(file)), expected)
    }
    for (const invalid of ['x', '<propfind xmlns="DAV:"/>', '<prop xmlns="DAV:"><prop/></prop>']) {
      for (let tries = 0; tries < 2; tries++) assert.throws(() => parse(invalid))
    }
  })
})
