import { type LibraryId, parseLibraryId } from '../../../base/objects/index.ts'
import { type LibraryPath, parsePath } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { accepting, map, rawValue, refuse } from '../../../platform/input/index.ts'
import { localTime, parseLocalTime } from './photo-wire.ts'
import { photoDates } from './photos.schema.ts'
import { route } from './services.ts'

const MAX_PHOTOS = 500

interface SentDate {
  readonly id: LibraryId
  readonly path: LibraryPath
  /** Undefined for the date in the file. */
  readonly takenAt: number | undefined
}

const sentDates = accepting(
  {
    type: 'array',
    items: { type: 'object' },
    required: true,
    description:
      'Up to 500 photos: `repo_id`, `path`, and `taken` as `YYYY-MM-DDThh:mm:ss` in local time, or null for the date in the file.',
  },
  map(rawValue(), (sent) => {
    const photos: unknown = typeof sent === 'string' ? undefined : sent
    if (!Array.isArray(photos) || photos.length === 0 || photos.length > MAX_PHOTOS) return undefined
    return photos.map((one: unknown) => parseDate(one) ?? refuse('photos'))
  }),
)

export const photoDateRoutes = [
  route({
    method: 'PUT',
    path: '/api/v2.1/photos/dates/',
    auth: 'user',
    summary:
      'Corrects the dates of photos, all or none. The files are not changed. Sending the answer back undoes it.',
    compatibility: 'addition',
    body: { photos: sentDates },
    responses: () => ({
      200: json(
        kinds.record('CorrectedDates', { photos: kinds.array(photoDates) }),
        'The photos with the corrections they had before, null for none.',
      ),
    }),
    async handle({ user, body }, { access, photos }) {
      const libraries = new Map<LibraryId, Library>()
      for (const id of new Set(body.photos.map((one) => one.id)))
        libraries.set(id, await access.open(user, id))
      const changes = body.photos.flatMap(({ id, path, takenAt }) => {
        const library = libraries.get(id)
        return library === undefined ? [] : [{ library, path, takenAt }]
      })
      const before = await photos.correctDates(changes)
      return {
        photos: body.photos.map(({ id, path }, index) => {
          const earlier = before[index]
          return { repo_id: id, path, taken: earlier === undefined ? null : localTime(earlier) }
        }),
      }
    },
  }),
]

function parseDate(sent: unknown): SentDate | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined
  const { repo_id, path, taken } = sent as Readonly<Record<string, unknown>>
  const id = typeof repo_id === 'string' ? parseLibraryId(repo_id) : undefined
  const at = typeof path === 'string' ? parsePath(path) : undefined
  const takenAt = taken === null ? undefined : parseLocalTime(taken)
  if (id === undefined || at === undefined || (taken !== null && takenAt === undefined)) return undefined
  return { id, path: at, takenAt }
}
