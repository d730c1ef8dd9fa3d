import assert from 'node:assert/strict'
import { it } from 'node:test'
import { detailsOf } from '../../../web/src/viewer/photo-details.ts'

const described = (tags: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(tags).map(([name, description]) => [name, { description }]))

it('details of a photo name the camera once, and need no tag', () => {
  const details = (tags: Record<string, unknown>) => detailsOf(described(tags))
  assert.equal(details({}), undefined)
  assert.equal(details({ Make: 'Canon', Model: 'Canon EOS R5' })?.camera, 'Canon EOS R5')
  assert.equal(details({ Make: 'Apple', Model: 'iPhone 15' })?.camera, 'Apple iPhone 15')
  assert.equal(details({ Make: 'Acme\0\0' })?.camera, 'Acme')
  const exposure = { ExposureTime: '1/250', FNumber: 'f/2.8', ISOSpeedRatings: 100, FocalLength: '35 mm' }
  assert.equal(details(exposure)?.exposure, '1/250 s · f/2.8 · ISO 100 · 35 mm')
})

it('details of a photo ignore values that make no sense', () => {
  const details = (tags: Record<string, unknown>) => detailsOf(described(tags))
  assert.equal(details({ DateTimeOriginal: '0000' }), undefined)
  assert.equal(details({ DateTimeOriginal: '2019:07:14 10:20:30' })?.taken, '2019-07-14 10:20:30')
  assert.equal(details({ GPSLatitude: 0, GPSLongitude: 0 }), undefined)
  assert.equal(details({ GPSLatitude: 999, GPSLongitude: 1 }), undefined)
  assert.equal(details({ Model: { toString: 1 } }), undefined)
  assert.equal(details({ Model: 'x'.repeat(9999) })?.camera?.length, 120)
  const south = {
    GPSLatitude: 33.5,
    GPSLongitude: 70,
    GPSLatitudeRef: 'South latitude',
    GPSLongitudeRef: 'West longitude',
  }
  assert.deepEqual(details(south)?.place, { latitude: -33.5, longitude: -70 })
})
