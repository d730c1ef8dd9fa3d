import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { Records } from '../../../sdk/src/index.ts'
import { setStar } from './entry-changes.ts'
import { api } from './http.ts'

const PAGE_SIZE = 500
const CHUNK_SIZE = 200
/** The most that the server takes. */
const DATES_PER_CALL = 500
/** Dates are read from files in the background, which no event announces. */
const REFRESH_MS = 20_000

/** An image or video of the timeline. */
export type Photo = Records['Photo']

/** Which photos a timeline shows: all, or those the user starred. */
export type PhotoSet = 'all' | 'starred'

const queryOf = (set: PhotoSet) => (set === 'starred' ? { starred: true } : {})

/** A day with photos. `first` is the place of its first photo in the timeline. */
export interface PhotoDay {
  readonly day: string
  readonly count: number
  readonly first: number
}

/** Consecutive days whose photos are loaded together. */
interface PhotoChunk {
  readonly from: string
  readonly to: string
  readonly first: number
  readonly count: number
}

function daysQuery(set: PhotoSet) {
  return queryOptions({
    queryKey: ['photos', 'days', set],
    queryFn: async ({ signal }) => {
      const { days } = await api.get('api/v2.1/photos/days/', queryOf(set), signal)
      let first = 0
      return days.map(([day, count]): PhotoDay => {
        first += count
        return { day, count, first: first - count }
      })
    },
  })
}

/** The days with photos in all libraries, newest first. */
export function usePhotoDays(set: PhotoSet, isEnabled = true) {
  return useQuery({ ...daysQuery(set), enabled: isEnabled, refetchInterval: REFRESH_MS })
}

/** Divides the timeline. A day is never divided. */
export function photoChunks(days: readonly PhotoDay[]): PhotoChunk[] {
  const chunks: PhotoChunk[] = []
  for (const { day, count, first } of days) {
    const last = chunks.at(-1)
    if (last === undefined || last.count + count > CHUNK_SIZE) {
      chunks.push({ from: day, to: day, first, count })
    } else chunks[chunks.length - 1] = { ...last, from: day, count: last.count + count }
  }
  return chunks
}

/** The photos of a chunk, newest first. With another count it is another query, so that a new photo is fetched. */
export function photoChunkQuery(set: PhotoSet, { from, to, count }: PhotoChunk) {
  return queryOptions({
    queryKey: ['photos', 'chunk', set, from, to, count],
    queryFn: async ({ signal }) => {
      const photos: Photo[] = []
      for (let after: string | null = ''; after !== null; ) {
        const page: { photos: readonly Photo[]; next: string | null } = await api.get(
          'api/v2.1/photos/',
          { ...queryOf(set), from, to, after, limit: PAGE_SIZE },
          signal,
        )
        photos.push(...page.photos)
        after = page.next
      }
      return photos
    },
    staleTime: 60_000,
  })
}

/** A photo, and those before and after it in the timeline. */
interface PhotoNeighbours {
  readonly position: number
  readonly count: number
  readonly previous: Photo | undefined
  readonly next: Photo | undefined
}

/** The neighbours of a photo of that day. Undefined until they are loaded, and for a photo that is not in the timeline. */
export function usePhotoNeighbours(
  { libraryId, path }: { readonly libraryId: string; readonly path: string },
  day: string | undefined,
  set: PhotoSet,
): PhotoNeighbours | undefined {
  const { data: days = [] } = usePhotoDays(set, day !== undefined)
  const chunks = day === undefined ? [] : photoChunks(days)
  const place = chunks.findIndex(({ from, to }) => day !== undefined && day >= from && day <= to)
  const before = useChunk(set, chunks[place - 1])
  const here = useChunk(set, chunks[place])
  const after = useChunk(set, chunks[place + 1])
  const index = here?.findIndex((photo) => photo.repo_id === libraryId && photo.path === path) ?? -1
  const chunk = chunks[place]
  if (here === undefined || chunk === undefined || index < 0) return undefined
  return {
    position: chunk.first + index,
    count: days.reduce((sum, { count }) => sum + count, 0),
    previous: here[index - 1] ?? (index === 0 ? before?.at(-1) : undefined),
    next: here[index + 1] ?? after?.[0],
  }
}

const NO_CHUNK: PhotoChunk = { from: '', to: '', first: 0, count: 0 }

function useChunk(set: PhotoSet, chunk: PhotoChunk | undefined): readonly Photo[] | undefined {
  return useQuery({ ...photoChunkQuery(set, chunk ?? NO_CHUNK), enabled: chunk !== undefined }).data
}

/** The photo at a place of the timeline; undefined until it is loaded. */
export function usePhotoAt(days: readonly PhotoDay[], set: PhotoSet, place: number): Photo | undefined {
  const chunk = photoChunks(days).find(({ first, count }) => place >= first && place < first + count)
  return useChunk(set, chunk)?.[place - (chunk?.first ?? 0)]
}

/** The day of a photo in the timeline. */
export const photoDay = ({ taken }: Photo) => taken.slice(0, 10)

/** A photo and the date it is to have: `YYYY-MM-DDThh:mm:ss` in local time, null for the date in the file. */
export interface PhotoDate {
  readonly repo_id: string
  readonly path: string
  readonly taken: string | null
}

/** Corrects dates, which the files do not change. Resolves to the earlier corrections, which undo it. */
export async function correctPhotoDates(photos: readonly PhotoDate[]): Promise<PhotoDate[]> {
  const before: PhotoDate[] = []
  for (let start = 0; start < photos.length; start += DATES_PER_CALL) {
    const json = { photos: photos.slice(start, start + DATES_PER_CALL) }
    before.push(...(await api.put('api/v2.1/photos/dates/', { json })).photos)
  }
  return before
}

/** Stars photos, or removes the stars. Shown before the server answers. */
export async function starPhotos(
  queries: QueryClient,
  photos: readonly Photo[],
  starred: boolean,
): Promise<void> {
  const ids = new Set(photos.map(({ repo_id, path }) => `${repo_id} ${path}`))
  queries.setQueriesData<readonly Photo[]>({ queryKey: ['photos', 'chunk'] }, (chunk) =>
    chunk?.map((photo) => (ids.has(`${photo.repo_id} ${photo.path}`) ? { ...photo, starred } : photo)),
  )
  try {
    for (const { repo_id, path } of photos) await setStar(repo_id, path, starred)
  } finally {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['photos'] }),
      queries.invalidateQueries({ queryKey: ['starred'] }),
      queries.invalidateQueries({ queryKey: ['dir'] }),
    ])
  }
}

/** After photos were deleted or moved. */
export function refreshPhotos(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['photos'] })
}

/** Placeholders of the images in a folder, by name. */
export function useThumbhashes(
  libraryId: string,
  path: string,
  isEnabled: boolean,
): Readonly<Record<string, string>> | undefined {
  return useQuery({
    queryKey: ['thumbhashes', libraryId, path],
    queryFn: async ({ signal }) => {
      const url = `api/v2.1/repos/${libraryId}/thumbhashes/` as const
      return (await api.get(url, { p: path }, signal)).thumbhashes
    },
    enabled: isEnabled,
    staleTime: 60_000,
  }).data
}
