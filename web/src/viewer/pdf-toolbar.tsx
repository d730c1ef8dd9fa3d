import {
  ChevronDown,
  ChevronUp,
  EllipsisVertical,
  Expand,
  MoveHorizontal,
  PanelLeft,
  Printer,
  RotateCw,
  Search,
  ZoomIn,
  ZoomOut,
} from 'lucide-react'
import { use, useState } from 'react'
import { createPortal } from 'react-dom'
import { useTexts } from '../texts/index.ts'
import { IconButton, Menu, ONE_COLUMN, useMedia } from '../ui/index.ts'
import { ToolbarSlot } from './toolbar-slot.ts'

/** The tools of a document and those of the file do not fit in one row. */
const TWO_ROWS = '(max-width: 1200px)'

/** What the toolbar and the keyboard can do. An action that is not possible now is undefined. */
export interface PdfActions {
  readonly zoomIn: (() => void) | undefined
  readonly zoomOut: (() => void) | undefined
  readonly toggleFit: () => void
  readonly rotate: () => void
  readonly print: () => void
  readonly search: () => void
  readonly toggleThumbnails: () => void
}

/** The tools of a document: pages, search, zoom, rotation and printing. In the toolbar of the file, if there is room. */
export function PdfToolbar(props: {
  actions: PdfActions
  current: number
  count: number
  scale: number
  fit: 'width' | 'page'
  hasThumbnails: boolean
  hasSearch: boolean
  onGo: (page: number) => void
}) {
  const { actions, current, count, onGo } = props
  const texts = useTexts('viewer')
  const narrow = useMedia(ONE_COLUMN)
  const slot = use(ToolbarSlot)
  const isOwnRow = useMedia(TWO_ROWS) || slot === null
  const more = [
    {
      label: props.fit === 'width' ? texts.fit : texts.fitWidth,
      icon: props.fit === 'width' ? Expand : MoveHorizontal,
      run: actions.toggleFit,
    },
    { label: texts.rotate, icon: RotateCw, run: actions.rotate },
    { label: texts.print, icon: Printer, run: actions.print },
  ]
  const tools = (
    <div className="viewer-tools" role="toolbar" aria-label={texts.pdfTools}>
      <IconButton
        label={texts.pdfThumbnails}
        icon={PanelLeft}
        aria-pressed={props.hasThumbnails}
        onClick={actions.toggleThumbnails}
      />
      <IconButton
        label={texts.previousPage}
        icon={ChevronUp}
        disabled={current <= 1}
        onClick={() => onGo(current - 1)}
      />
      <IconButton
        label={texts.nextPage}
        icon={ChevronDown}
        disabled={current >= count}
        onClick={() => onGo(current + 1)}
      />
      <PageField current={current} count={count} onGo={onGo} />
      <span className="viewer-tools-gap" />
      <IconButton
        label={texts.pdfSearch}
        icon={Search}
        aria-pressed={props.hasSearch}
        aria-keyshortcuts="Control+F"
        onClick={actions.search}
      />
      <IconButton
        label={texts.zoomOut}
        icon={ZoomOut}
        disabled={actions.zoomOut === undefined}
        onClick={actions.zoomOut}
      />
      <output className="viewer-scale" aria-label={texts.zoom}>
        {texts.percent(Math.round(props.scale * 100))}
      </output>
      <IconButton
        label={texts.zoomIn}
        icon={ZoomIn}
        disabled={actions.zoomIn === undefined}
        onClick={actions.zoomIn}
      />
      {narrow ? (
        <Menu
          trigger={<IconButton label={texts.pdfTools} icon={EllipsisVertical} />}
          entries={more.map(({ label, icon, run }) => ({ label, icon, onSelect: run }))}
        />
      ) : (
        more.map(({ label, icon, run }) => <IconButton key={label} label={label} icon={icon} onClick={run} />)
      )}
    </div>
  )
  return isOwnRow ? tools : createPortal(tools, slot)
}

function PageField(props: { current: number; count: number; onGo: (page: number) => void }) {
  const texts = useTexts('viewer')
  const [typed, setTyped] = useState<string>()
  const go = () => {
    const page = Math.round(Number(typed))
    if (page >= 1 && page <= props.count) props.onGo(page)
    setTyped(undefined)
  }
  return (
    <form
      className="pdf-page-field"
      onSubmit={(event) => {
        event.preventDefault()
        go()
      }}
    >
      <input
        className="input"
        inputMode="numeric"
        aria-label={texts.page}
        value={typed ?? String(props.current)}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => setTyped(undefined)}
        onFocus={(event) => {
          // Stays while the document scrolls: another number would drop the selection, and digits would be appended to it.
          setTyped(event.target.value)
          event.target.select()
        }}
      />
      <span className="muted">{texts.ofPages(props.count)}</span>
    </form>
  )
}
