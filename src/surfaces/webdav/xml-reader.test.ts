import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { elementsOf, parseLongXml, parseXml, serialize } from './xml-reader.ts'

describe('an element that is stored', () => {
  const stored = (inner: string) => {
    const [first] = elementsOf(parseXml(Buffer.from(`<r xmlns:a="urn:a" xmlns:b="urn:b">${inner}</r>`)))
    return first ?? assert.fail('no element')
  }

  it('declares each namespace once, and means the same', () => {
    const cases: [sent: string, written: string][] = [
      ['<a:x/>', '<x xmlns="urn:a"/>'],
      ['<x/>', '<x/>'],
      ['<a:x><a:y/><b:y/><b:z/></a:x>', '<x xmlns="urn:a" xmlns:p0="urn:b"><y/><p0:y/><p0:z/></x>'],
      ['<a:x><y/><a:z/></a:x>', '<p0:x xmlns:p0="urn:a"><y/><p0:z/></p0:x>'],
      [
        '<a:x b:c="1" a:c="2" c="3"/>',
        '<x xmlns="urn:a" xmlns:p0="urn:b" xmlns:p1="urn:a" p0:c="1" p1:c="2" c="3"/>',
      ],
      ['<xml:x xml:lang="de">&lt;</xml:x>', '<xml:x xml:lang="de">&#60;</xml:x>'],
    ]
    for (const [sent, written] of cases) {
      assert.equal(serialize(stored(sent)), written)
      assert.deepEqual(parseXml(Buffer.from(written)), stored(sent), written)
    }
    assert.equal(serialize(stored('<a:x/>'), 'de'), '<x xmlns="urn:a" xml:lang="de"/>')
  })

  it('is parsed equally in parts', async () => {
    const document = Buffer.from(
      `<r xmlns:a="urn:a">${'<a:x y="ö">&#246; <![CDATA[<]]></a:x>'.repeat(1000)}</r>`,
    )
    // A text may arrive in several pieces.
    const text = (whole: Awaited<ReturnType<typeof parseLongXml>>) => serialize(whole)
    assert.equal(text(await parseLongXml(document)), text(parseXml(document)))
    await assert.rejects(parseLongXml(document.subarray(0, 20_000)))
  })
})
