import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, useEffect, useRef } from 'react'
import { type Entry, type SharedSign, useThumbhashes } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { COARSE, ContextMenu, type MenuEntry, useMedia } from '../ui/index.ts'
import { preloadViewer } from '../viewer/index.ts'
import { visitedLink } from '../visited-link.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import type { OnDropped } from './drag-and-drop.ts'
import { EntryRow, EntryTile, itemId } from './entry-row.tsx'
import { GridHead } from './grid-head.tsx'
import { openMenuAt, useColumns, useVisit } from './grid-hooks.ts'
import type { Preferences } from './preferences.ts'
import { none, only, type Selection, type Shown, selectRange, toggleEntry } from './selection.ts'
import type { Sorting } from './sorting.ts'
import { useEntryDrag } from './use-entry-drag.ts'
import { useGridKeys } from './use-grid-keys.ts'
import { useLongPress } from './use-long-press.ts'
import { useRubberBand } from './use-rubber-band.ts'

const HEAD_PIXELS = 38
const ROW_PIXELS = { regular: 40, compact: 32 } as const
const NARROW_ROW_PIXELS = 56
const TILE_HEIGHT_PIXELS = 206
const OVERSCAN_ROWS = 6
const OVERSCAN_TILES = 2

export interface EntryGridProps {
  readonly here: CurrentFolder
  readonly entries: readonly Entry[]
  readonly shown: Shown
  readonly selection: Selection
  /** Names of entries that will move when they are pasted. */
  readonly cut: ReadonlySet<string>
  /** Shared entries by path. */
  readonly shared: ReadonlyMap<string, SharedSign>
  readonly onSelect: (selection: Selection) => void
  readonly preferences: Preferences
  readonly onSort: (sorting: Sorting) => void
  readonly narrow: boolean
  /** Menu of the selection, or of the folder if nothing is selected. */
  readonly menu: readonly MenuEntry[]
  readonly renaming: string | undefined
  readonly isTaken: (name: string) => boolean
  readonly onRenamed: (entry: Entry, newName: string | undefined) => void
  readonly onOpen: (entry: Entry) => void
  readonly onQuickAction: (action: 'share' | 'download', entry: Entry) => void
  readonly onStartRename: () => void
  readonly onDelete: () => void
  readonly onUp: () => void
  readonly onFind: () => void
  readonly onEscape: () => void
  readonly onDropped: OnDropped | undefined
}

/**
 * The entries of a folder, as rows or as tiles. Virtualized: only visible entries are rendered. Events are delegated to
 * the list, so that entries are cheap to render.
 */
export function EntryGrid(props: EntryGridProps) {
  const { here, entries, shown, selection, onSelect, preferences, narrow } = props
  const texts = useTexts('files')
  const scroller = useRef<HTMLDivElement>(null)
  const pressed = useRef<string>(undefined)
  const asTiles = preferences.view === 'grid'
  const columns = useColumns(scroller, asTiles)
  const thumbhashes = useThumbhashes(
    here.libraryId,
    here.path,
    asTiles && !here.encrypted && visitedLink === undefined,
  )
  const hasHead = !asTiles && !narrow
  const headPixels = hasHead ? HEAD_PIXELS : 0
  const rowPixels = asTiles
    ? TILE_HEIGHT_PIXELS
    : narrow
      ? NARROW_ROW_PIXELS
      : ROW_PIXELS[preferences.density]
  const rows = Math.ceil(entries.length / columns)
  const virtual = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPixels,
    overscan: asTiles ? OVERSCAN_TILES : OVERSCAN_ROWS,
    rangeExtractor: (range) => (asTiles ? defaultRangeExtractor(range) : slotsOf(range, rowSlots())),
    scrollMargin: headPixels,
    scrollPaddingStart: headPixels,
  })
  useEffect(() => virtual.measure(), [virtual, rowPixels])
  function rowSlots(): number {
    return Math.ceil((virtual.scrollRect?.height ?? 0) / rowPixels) + 1 + 2 * OVERSCAN_ROWS
  }
  const fine = !useMedia(COARSE)
  const activePlace = selection.active === undefined ? undefined : shown.places.get(selection.active)
  const activeEntry = activePlace === undefined ? undefined : entries[activePlace]
  useEffect(() => expectOpening(activeEntry), [activeEntry])
  const toPlace = (place: number) => virtual.scrollToIndex(Math.floor(place / columns))
  useVisit(
    here,
    scroller,
    selection.active,
    () => virtual.scrollOffset ?? 0,
    () => activePlace !== undefined && toPlace(activePlace),
  )

  const select = (next: Selection) => {
    onSelect(next)
    const place = next.active === undefined ? undefined : shown.places.get(next.active)
    if (place !== undefined) toPlace(place)
  }
  const onKeyDown = useGridKeys({
    columns,
    pageRows: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowPixels) - 1),
    select,
    onMenu: () => activePlace !== undefined && openMenuAt(scroller.current, activePlace),
    grid: props,
  })
  const longPress = useLongPress((target) => {
    const entry = entryAt(target)
    if (entry !== undefined) onSelect(toggleEntry(selection, entry.name))
  })
  const drags = useEntryDrag({ ...props, entryAt })
  const band = useRubberBand({
    scroller,
    layout: { headPixels, rowPixels, count: entries.length },
    selection,
    shown,
    onSelect,
  })

  function entryAt(target: EventTarget): Entry | undefined {
    const item = (target as Element).closest<HTMLElement>('[data-place]')
    return item === null ? undefined : entries[Number(item.dataset['place'])]
  }

  function onClick(event: MouseEvent): void {
    if (band.takeClick()) return
    const entry = entryAt(event.target)
    if (entry === undefined) {
      if (!(event.target as Element).closest('[role=columnheader]')) onSelect(none(selection))
      return
    }
    const part = (event.target as Element).closest<HTMLElement>('[data-part]')?.dataset['part']
    // Otherwise the link under the finger would open.
    if (longPress.takeClick()) return event.preventDefault()
    const touched = (event.nativeEvent as PointerEvent).pointerType === 'touch'
    const adding = event.ctrlKey || event.metaKey
    // A click on a label is followed by one on its checkbox, which is the one to handle.
    if (part === 'check' && event.target instanceof HTMLLabelElement) return
    if (part !== 'check') event.preventDefault()
    // Moves the focus to the list, because checkboxes and links do not handle its keys.
    scroller.current?.focus({ preventScroll: true })
    if (part === 'share' || part === 'download') props.onQuickAction(part, entry)
    else if (part === 'more')
      openMenuAt(scroller.current, shown.places.get(entry.name) ?? 0, event.target as Element)
    else if (event.shiftKey) onSelect(selectRange(selection, shown, entry.name, adding || part === 'check'))
    else if (part === 'check' || adding) onSelect(toggleEntry(selection, entry.name))
    else if (touched && selection.chosen.size > 0) onSelect(toggleEntry(selection, entry.name))
    else if (part === 'name' || touched) props.onOpen(entry)
    else onSelect(only(entry.name))
  }

  function onDoubleClick(event: MouseEvent): void {
    const entry = entryAt(event.target)
    const part = (event.target as Element).closest<HTMLElement>('[data-part]')?.dataset['part']
    if (entry !== undefined && part === undefined) props.onOpen(entry)
  }

  function onMenuOpen(open: boolean): void {
    if (!open) return
    const name = pressed.current
    if (name === undefined) onSelect(none(selection))
    else if (!selection.chosen.has(name)) onSelect(only(name))
  }

  const Item = asTiles ? EntryTile : EntryRow
  const item = (entry: Entry, place: number) => (
    <Item
      key={asTiles ? entry.name : 'row'}
      here={here}
      entry={entry}
      place={place}
      chosen={selection.chosen.has(entry.name)}
      active={selection.active === entry.name}
      dropping={drags.over === entry.name}
      cut={props.cut.has(entry.name)}
      shared={props.shared.get(entryPath(here, entry))}
      draggable={fine}
      narrow={narrow}
      folderSizes={preferences.folderSizes}
      thumbhash={entry.type === 'file' ? thumbhashes?.[entry.name] : undefined}
      isTaken={props.isTaken}
      onRenamed={props.renaming === entry.name ? (newName) => finishRename(entry, newName) : undefined}
    />
  )

  function finishRename(entry: Entry, newName: string | undefined): void {
    props.onRenamed(entry, newName)
    scroller.current?.focus({ preventScroll: true })
  }

  // Rows are recycled: while the list scrolls, a row that leaves it becomes the one that enters it. That is cheaper than a new one.
  const visible = virtual.getVirtualItems()
  const slots = Math.max(rowSlots(), visible.length)
  // An element that moves within its parent is laid out anew. Rows keep their order until the list rests, then they get that of the list again,
  // which assistive technology reads.
  const drawn =
    asTiles || !virtual.isScrolling
      ? visible
      : visible.toSorted((one, other) => (one.index % slots) - (other.index % slots))
  const [first, last] = [visible[0]?.index ?? 0, visible.at(-1)?.index ?? -1]
  const activeRow = activePlace === undefined ? -1 : Math.floor(activePlace / columns)
  return (
    <ContextMenu
      entries={props.menu}
      onOpenChange={onMenuOpen}
      // The rename field keeps the focus; otherwise it returns to the list.
      onCloseAutoFocus={(event) => props.renaming !== undefined && event.preventDefault()}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a table cannot hold rows that are placed by their number. */}
      <div
        ref={scroller}
        className={`files-grid${narrow ? ' files-narrow' : ''}${visitedLink === undefined ? '' : ' files-visited'}${selection.chosen.size > 0 ? ' files-selecting' : ''}`}
        role="grid"
        tabIndex={0}
        aria-label={texts.list}
        aria-multiselectable
        aria-rowcount={hasHead ? rows + 1 : rows}
        aria-colcount={asTiles ? columns : undefined}
        aria-activedescendant={
          activePlace !== undefined && activeRow >= first && activeRow <= last
            ? itemId(activePlace)
            : undefined
        }
        onKeyDown={onKeyDown}
        onClick={onClick}
        onDoubleClick={onDoubleClick}
        onPointerDown={(event) => {
          pressed.current = entryAt(event.target)?.name
          longPress.onPointerDown(event)
          band.onPointerDown(event)
        }}
        onPointerMove={longPress.onPointerMove}
        onPointerUp={longPress.cancel}
        onPointerCancel={longPress.cancel}
        onPointerOver={({ target }) => expectOpening(entryAt(target))}
        onContextMenu={(event) => {
          pressed.current = entryAt(event.target)?.name
          longPress.onContextMenu(event)
        }}
        {...drags.handlers}
        onDragStart={(event) =>
          band.isPressed() ? event.preventDefault() : drags.handlers.onDragStart(event)
        }
      >
        {hasHead && <GridHead {...props} />}
        {band.box !== undefined && (
          <div
            className="files-band"
            aria-hidden
            style={{
              left: band.box.left,
              top: band.box.top,
              width: band.box.right - band.box.left,
              height: band.box.bottom - band.box.top,
            }}
          />
        )}
        <div role="presentation" className="files-rows" style={{ height: virtual.getTotalSize() }}>
          {drawn.map(({ index, start }) => (
            <div
              key={asTiles ? index : index % slots}
              role={asTiles ? 'row' : 'presentation'}
              aria-rowindex={asTiles ? index + 1 : undefined}
              className={asTiles ? 'files-tiles' : 'files-line'}
              style={{
                height: rowPixels,
                transform: `translateY(${start - headPixels}px)`,
                ...(asTiles && { gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }),
              }}
            >
              {entries
                .slice(index * columns, (index + 1) * columns)
                .map((entry, column) => item(entry, index * columns + column))}
            </div>
          ))}
        </div>
      </div>
    </ContextMenu>
  )
}

/** As many rows as there are slots, so that a frame neither creates nor removes one. */
function slotsOf({ startIndex, endIndex, overscan, count }: Range, slots: number): number[] {
  const length = Math.min(count, Math.max(slots, endIndex - startIndex + 1))
  const first = Math.max(0, Math.min(startIndex - overscan, count - length))
  return Array.from({ length }, (_, place) => first + place)
}

/** Prefetches the entry under the pointer, which may be opened next. */
function expectOpening(entry: Entry | undefined): void {
  if (entry?.type === 'file') preloadViewer(entry.name)
}
