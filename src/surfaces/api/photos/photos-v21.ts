import { json, kinds } from '../../../base/schemas/index.ts'
import { flag, integer, type Reader, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt, folderPathText } from '../common/resolve-path.ts'
import {
  cursorToWire,
  dayToWire,
  parseCursor,
  parseDay,
  photoToWire,
  placesToWire,
  thumbhashToWire,
} from './photo-wire.ts'
import { day as daySchema, photo, place, thumbhash } from './photos.schema.ts'
import { route } from './services.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 500

/** A value that may be absent, and must be valid if it is not. */
function optionalOf<T>(parse: (sent: string) => T | undefined): Reader<T | undefined> {
  return (fields, name) => {
    const sent = rawText()(fields, name)
    if (!sent) return undefined
    return parse(sent) ?? refuse(name)
  }
}

export const photoRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/photos/',
    auth: 'user',
    summary: 'Lists photos and videos of all libraries the caller can open by date taken, newest first.',
    compatibility: 'addition',
    callers: 'every account',
    query: {
      from: optionalOf(parseDay),
      to: optionalOf(parseDay),
      after: optionalOf(parseCursor),
      starred: flag(),
      limit: integer({ default: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT, lenient: true }),
    },
    responses: () => ({
      200: json(
        kinds.record('Photos', {
          photos: kinds.array(photo),
          repos: kinds.mapOf(place, 'The libraries of these photos, by id.'),
          next: kinds.orNull(kinds.text('Where the next page begins. Null on the last page.')),
        }),
        'A page of photos, newest first.',
      ),
    }),
    details: () => ({
      parameters: {
        from: { description: 'The first day, as `YYYY-MM-DD`.' },
        to: { description: 'The last day, as `YYYY-MM-DD`.' },
        after: { description: 'The `next` of the previous page.' },
        starred: { description: 'Only those the caller starred.' },
        limit: { description: 'The number of photos on a page.' },
      },
    }),
    async handle({ user, query }, { photos }) {
      const { timeline } = photos
      const among = query.starred ? await timeline.starred(user) : undefined
      const { photos: found, next } = await timeline.page(user, { ...query, among })
      return {
        photos: found.map(photoToWire),
        repos: placesToWire(found),
        next: next === undefined ? null : cursorToWire(next),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/photos/days/',
    auth: 'user',
    summary: 'Counts the photos and videos of each day in all libraries the caller can open, newest first.',
    compatibility: 'addition',
    callers: 'every account',
    query: { starred: flag() },
    details: () => ({ parameters: { starred: { description: 'Only those the caller starred.' } } }),
    responses: () => ({
      200: json(kinds.record('PhotoDays', { days: kinds.array(daySchema) }), 'The days, newest first.'),
    }),
    async handle({ user, query }, { photos }) {
      const { timeline } = photos
      const days = await timeline.days(user, query.starred ? await timeline.starred(user) : undefined)
      return { days: days.map(({ day, photos: count }) => [dayToWire(day), count]) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/thumbhashes/',
    auth: 'user',
    summary: 'Sends small placeholders of the images in a folder, by name.',
    compatibility: 'addition',
    callers: 'readers',
    sample: { query: { p: '/docs', path: '/docs' } },
    params: { repo_id: libraryIdParam },
    query: { p: sentPathOrRoot },
    responses: () => ({
      200: json(
        kinds.record('Placeholders', {
          thumbhashes: kinds.mapOf(thumbhash, 'By name of the file.'),
        }),
        'The placeholders that are known.',
      ),
    }),
    async handle({ user, params, query }, { access, photos }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await folderAt(library, query.p, folderPathText(query.p))
      const found = await photos.timeline.placeholders(library, path)
      return {
        thumbhashes: Object.fromEntries(Array.from(found, ([name, hash]) => [name, thumbhashToWire(hash)])),
      }
    },
  }),
]

function refuse(name: string): never {
  throw errorMessage(400, `${name} invalid.`)
}
