import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const thumbhash = kinds.text('A small placeholder of the image: a ThumbHash in Base64.')

const photo = kinds.record('Photo', {
  repo_id: kinds.libraryId,
  path: kinds.path,
  id: kinds.objectId,
  type: kinds.oneOfWords(['image', 'video']),
  size: kinds.size,
  mtime: kinds.unixTime,
  taken: kinds.text('When it was taken, in the local time of the camera, with the offset from UTC if known.'),
  width: Type.Optional(kinds.count('In pixels, if known.')),
  height: Type.Optional(kinds.count('In pixels, if known.')),
  thumbhash: Type.Optional(thumbhash),
})

const place = Type.Object({
  repo_name: kinds.text('The name of the library.'),
  permission: kinds.permission,
})

const day = Type.Unsafe<[day: string, photos: number]>({
  type: 'array',
  description: 'A day as `YYYY-MM-DD`, and its number of photos and videos.',
  prefixItems: [kinds.text(), kinds.count('The number.')],
  minItems: 2,
  maxItems: 2,
})

/** The timeline of photos, and placeholders of images. */
export const photoSchemas = [
  operation(
    'GET /api/v2.1/photos/',
    {
      200: json(
        kinds.record('Photos', {
          photos: Type.Array(photo),
          repos: kinds.mapOf(place, 'The libraries of these photos, by id.'),
          next: kinds.orNull(kinds.text('Where the next page begins. Null on the last page.')),
        }),
        'A page of photos, newest first.',
      ),
    },
    {
      parameters: {
        from: { description: 'The first day, as `YYYY-MM-DD`.' },
        to: { description: 'The last day, as `YYYY-MM-DD`.' },
        after: { description: 'The `next` of the previous page.' },
        limit: { description: 'The number of photos on a page.' },
      },
    },
  ),
  operation('GET /api/v2.1/photos/days/', {
    200: json(kinds.record('PhotoDays', { days: Type.Array(day) }), 'The days, newest first.'),
  }),
  operation('GET /api/v2.1/repos/:repo_id/thumbhashes/', {
    200: json(
      kinds.record('Placeholders', {
        thumbhashes: kinds.mapOf(thumbhash, 'By name of the file.'),
      }),
      'The placeholders that are known.',
    ),
  }),
]
