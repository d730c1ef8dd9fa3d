import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Presentation } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import {
  type Photo,
  type PhotoDay,
  type PhotoSet,
  photoChunkQuery,
  photoChunks,
  refreshPhotos,
  starPhotos,
} from '../api/index.ts'
import { useDeleteFiles } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { forwardKey, IconButton, NARROW, SelectField, useFailureToast, useMedia } from '../ui/index.ts'
import { DateRail, useMonthName } from './date-rail.tsx'
import { PhotoTile } from './photo-tile.tsx'
import { PhotosBar } from './photos-bar.tsx'
import { SetTabs } from './set-tabs.tsx'
import { Slideshow } from './slideshow.tsx'
import { rowOfPlace, type TimelineRow, timelineMonths, timelineRows } from './timeline-rows.ts'

const DAY_PIXELS = 44
const GAP_PIXELS = 4
const TILE_PIXELS = 168
const NARROW_TILE_PIXELS = 104

/** Where each timeline was left, to which the viewer returns. */
const lastOffsets = new Map<PhotoSet, number>()

const keyOf = ({ repo_id, path }: Photo) => `${repo_id} ${path}`

/** The timeline. Virtualized: only visible rows are rendered, and only their photos are fetched. */
export function Timeline({ days, set }: { days: readonly PhotoDay[]; set: PhotoSet }) {
  const texts = useTexts('photos')
  const formats = useFormats()
  const narrow = useMedia(NARROW)
  const monthName = useMonthName()
  const scroller = useRef<HTMLDivElement>(null)
  const width = useWidth(scroller)
  const columns = Math.max(3, Math.floor(width / (narrow ? NARROW_TILE_PIXELS : TILE_PIXELS)))
  const rowPixels = (width - GAP_PIXELS * (columns - 1)) / columns + GAP_PIXELS
  const rows = useMemo(() => timelineRows(days, columns), [days, columns])
  const months = useMemo(() => timelineMonths(rows), [rows])
  const virtual = useVirtualizer({
    count: width === 0 ? 0 : rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === 'day' ? DAY_PIXELS : rowPixels),
    overscan: 4,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heights depend on these.
  useEffect(() => virtual.measure(), [virtual, rows, rowPixels])
  const isRestored = useRef(false)
  useEffect(() => {
    if (width === 0 || isRestored.current) return
    isRestored.current = true
    virtual.scrollToOffset(lastOffsets.get(set) ?? 0)
  }, [virtual, width, set])
  const visible = virtual.getVirtualItems()
  const photos = usePhotos(set, days, rows, visible[0]?.index ?? 0, visible.at(-1)?.index ?? -1)
  const [focused, setFocused] = useState(0)
  const [chosen, setChosen] = useState<ReadonlyMap<string, Photo>>(new Map())
  const total = days.reduce((sum, { count }) => sum + count, 0)
  const shownMonth = monthAt(
    rows,
    virtual.scrollOffset ?? 0,
    (index) => virtual.measurementsCache[index]?.end ?? 0,
  )

  /** Where the focus is moving to. Keys may come faster than rows are rendered. */
  const moving = useRef<number>(undefined)
  const focus = (place: number) => {
    moving.current = place
    setFocused(place)
    virtual.scrollToIndex(rowOfPlace(rows, place), { align: 'auto' })
    // The row may only be rendered by the scrolling.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        scroller.current
          ?.querySelector<HTMLElement>(`[data-place="${place}"]`)
          ?.focus({ preventScroll: true }),
      ),
    )
  }
  const queries = useQueryClient()
  const deleteFiles = useDeleteFiles(() => refreshPhotos(queries))
  const onDelete = () => {
    const files = Array.from(chosen.values(), ({ repo_id, path }) => ({ libraryId: repo_id, path }))
    clear()
    void deleteFiles(files)
  }
  const rangeOf = usePhotoRange(set, days)
  const anchor = useRef(0)
  const latestRange = useRef(0)
  /** Whether the last key extended the selection, whose photos may still be loading. */
  const isExtending = useRef(false)
  /** Selects everything between the anchor and a place, in addition to the selection if `adding`. */
  const selectRange = async (place: number, adding: boolean) => {
    latestRange.current += 1
    const turn = latestRange.current
    const range = await rangeOf(Math.min(anchor.current, place), Math.max(anchor.current, place))
    // Another key came while photos of the range were loading.
    if (turn !== latestRange.current) return
    const added = range.map((photo): [string, Photo] => [keyOf(photo), photo])
    setChosen((before) => new Map(adding ? [...before, ...added] : added))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || isPlaying !== undefined) return
    const target = (event.target as Element).closest<HTMLElement>('[data-place]')
    if (target === null) return
    const here = moving.current ?? Number(target.dataset['place'])
    const next = placeAfter(event.key, here, rows, total)
    if (next !== undefined) {
      event.preventDefault()
      focus(next)
      if (event.shiftKey) {
        if (!isExtending.current && chosen.size === 0) anchor.current = here
        void selectRange(next, false)
      }
      isExtending.current = event.shiftKey
    } else if (event.key === 's') {
      const photo = photos(here)
      if (photo !== undefined) star([photo], !photo.starred)
    } else if (event.key === 'Delete' && chosen.size > 0) onDelete()
    else if (event.key === 'Escape' && chosen.size > 0) clear()
    else if (event.key === 'x' || (event.key === ' ' && chosen.size > 0)) {
      const photo = photos(here)
      event.preventDefault()
      if (photo !== undefined) toggle(photo, here)
    }
  }
  const failed = useFailureToast()
  const star = (some: readonly Photo[], starred: boolean) => {
    setChosen((before) => {
      const after = new Map(before)
      for (const photo of some) {
        // What leaves the favourites is not shown any more, so it cannot stay selected.
        if (set === 'starred' && !starred) after.delete(keyOf(photo))
        else if (after.has(keyOf(photo))) after.set(keyOf(photo), { ...photo, starred })
      }
      return after
    })
    void starPhotos(queries, some, starred).catch(failed)
  }
  /** The place at which the slideshow is. */
  const [isPlaying, setPlaying] = useState<number>()
  const clear = () => {
    isExtending.current = false
    latestRange.current += 1
    setChosen(new Map())
  }
  const toggle = (photo: Photo, place: number) => {
    anchor.current = place
    const next = new Map(chosen)
    if (!next.delete(keyOf(photo))) next.set(keyOf(photo), photo)
    setChosen(next)
  }
  const tile = (place: number) => {
    const photo = photos(place)
    if (photo === undefined) return <span key={place} className="photos-tile" />
    return (
      <PhotoTile
        key={keyOf(photo)}
        photo={photo}
        set={set}
        place={place}
        isFocusable={place === focused}
        isChosen={chosen.has(keyOf(photo))}
        isSelecting={chosen.size > 0}
        onToggle={(isRange) => (isRange ? void selectRange(place, true) : toggle(photo, place))}
        onStar={() => star([photo], !photo.starred)}
        onFocus={() => {
          moving.current = undefined
          setFocused(place)
        }}
      />
    )
  }
  // Something must be reachable by Tab, also after scrolling away from the photo that had the focus.
  const [first, last] = [visible[0]?.index, visible.at(-1)?.index]
  const focusedRow = rowOfPlace(rows, focused)
  useEffect(() => {
    if (first === undefined || last === undefined || (focusedRow >= first && focusedRow <= last)) return
    const shown = rows.slice(first, last + 1).find((row) => row.kind === 'photos')
    if (shown !== undefined) setFocused(shown.first)
  }, [first, last, focusedRow, rows])

  return (
    <div className={`photos${chosen.size > 0 ? ' photos-selecting' : ''}`}>
      <header className="photos-head">
        {chosen.size > 0 ? (
          <PhotosBar photos={[...chosen.values()]} onClear={clear} onDelete={onDelete} onStar={star} />
        ) : (
          <>
            <h1>{texts.title}</h1>
            <SetTabs current={set} />
            <span className="muted photos-count">{texts.count(total, formats.number(total))}</span>
            <IconButton label={texts.slideshow} icon={Presentation} onClick={() => setPlaying(focused)} />
            {narrow && (
              <SelectField
                label={texts.goTo}
                value={shownMonth}
                onChange={({ target }) => {
                  const found = months.find(({ month }) => month === target.value)
                  if (found !== undefined) virtual.scrollToIndex(found.row, { align: 'start' })
                }}
              >
                {months.map(({ month }) => (
                  <option key={month} value={month}>
                    {monthName(month)}
                  </option>
                ))}
              </SelectField>
            )}
          </>
        )}
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move the focus between the links in it. */}
      <div
        ref={scroller}
        className="photos-scroller"
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => {
          lastOffsets.set(set, currentTarget.scrollTop)
        }}
      >
        <div className="photos-rows" style={{ height: virtual.getTotalSize() }}>
          {visible.map(({ index, start, size }) => {
            const row = rows[index]
            if (row === undefined) return null
            const style = { height: size, transform: `translateY(${start}px)` }
            return row.kind === 'day' ? (
              <h2 key={row.day.day} className="photos-day" style={style}>
                {formats.day(`${row.day.day}T12:00`)}
              </h2>
            ) : (
              <div
                key={row.first}
                className="photos-line"
                style={{ ...style, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
              >
                {Array.from({ length: row.count }, (_, column) => tile(row.first + column))}
              </div>
            )
          })}
        </div>
      </div>
      {isPlaying !== undefined && (
        <Slideshow
          days={days}
          set={set}
          start={isPlaying}
          onStar={(photo) => star([photo], !photo.starred)}
          onClose={(place) => {
            setPlaying(undefined)
            focus(place)
          }}
        />
      )}
      {!narrow && (
        <DateRail
          months={months}
          current={shownMonth}
          onGo={({ row }) => virtual.scrollToIndex(row, { align: 'start' })}
        />
      )}
    </div>
  )
}

/** Loads the photos of the visible rows. Returns the photo at a place; undefined until it is loaded. */
function usePhotos(
  set: PhotoSet,
  days: readonly PhotoDay[],
  rows: readonly TimelineRow[],
  first: number,
  last: number,
): (place: number) => Photo | undefined {
  const chunks = useMemo(() => photoChunks(days), [days])
  const [from, to] = [rows[first]?.day.first ?? 0, rows[last]?.day ?? { first: -1, count: 0 }]
  const shown = chunks.filter(
    (chunk) => chunk.first < to.first + Math.max(to.count, 1) && chunk.first + chunk.count > from,
  )
  const loaded = useQueries({ queries: shown.map((chunk) => photoChunkQuery(set, chunk)) })
  return (place) => {
    const index = shown.findIndex((chunk) => place >= chunk.first && place < chunk.first + chunk.count)
    return loaded[index]?.data?.[place - (shown[index]?.first ?? 0)]
  }
}

/** Loads the photos between two places, both included, which need not be visible. */
function usePhotoRange(
  set: PhotoSet,
  days: readonly PhotoDay[],
): (from: number, to: number) => Promise<Photo[]> {
  const queries = useQueryClient()
  return async (from, to) => {
    const chunks = photoChunks(days).filter(({ first, count }) => first <= to && first + count > from)
    const loaded = await Promise.all(chunks.map((chunk) => queries.fetchQuery(photoChunkQuery(set, chunk))))
    const start = chunks[0]?.first ?? 0
    return loaded.flat().slice(from - start, to - start + 1)
  }
}

function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return width
}

/** The month of the first row that is visible. */
function monthAt(rows: readonly TimelineRow[], offset: number, endOf: (index: number) => number): string {
  let [low, high] = [0, rows.length - 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (endOf(middle) <= offset + 1) low = middle + 1
    else high = middle
  }
  return rows[low]?.day.day.slice(0, 7) ?? ''
}

/** The place that an arrow key leads to. */
function placeAfter(
  pressed: string,
  place: number,
  rows: readonly TimelineRow[],
  total: number,
): number | undefined {
  const key = forwardKey(pressed)
  if (key === 'ArrowLeft') return Math.max(0, place - 1)
  if (key === 'ArrowRight') return Math.min(total - 1, place + 1)
  if (key === 'Home') return 0
  if (key === 'End') return total - 1
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined
  const here = rowOfPlace(rows, place)
  const row = rows[here]
  if (row?.kind !== 'photos') return undefined
  const step = key === 'ArrowUp' ? -1 : 1
  for (let at = here + step; at >= 0 && at < rows.length; at += step) {
    const next = rows[at]
    if (next?.kind === 'photos') return next.first + Math.min(place - row.first, next.count - 1)
  }
  return place
}
