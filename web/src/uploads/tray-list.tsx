import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { useTexts } from '../texts/index.ts'
import { engine } from './engine.ts'
import type { Upload, UploadState } from './queue.ts'
import { TrayRow } from './tray-row.tsx'

const ROW_PX = 56
/** What needs somebody comes first, what is done last. */
const ORDER: readonly UploadState[] = ['failed', 'lost', 'sending', 'waiting', 'paused', 'done']

/** All uploads; only the rows in view are there. */
export function TrayList(props: { version: number }) {
  const texts = useTexts('uploads')
  const scroller = useRef<HTMLDivElement>(null)
  const { version } = props
  // The queue is one object that changes; its version says when.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const uploads = useMemo(() => ordered(engine.queue.uploads), [version])
  const rows = useVirtualizer({
    count: uploads.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
  })
  return (
    // Rows that are done have nothing to focus, and the list has to be scrolled by keyboard all the same.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={scroller} className="tray-scroller" tabIndex={0} role="group" aria-label={texts.list}>
      <ul className="tray-list" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const upload = uploads[index]
          if (upload === undefined) return null
          return (
            <li
              key={upload.key}
              className="tray-row"
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={uploads.length}
              aria-posinset={index + 1}
            >
              <TrayRow upload={upload} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function ordered(uploads: Iterable<Upload>): Upload[] {
  const groups = Map.groupBy(uploads, ({ state }) => state)
  return ORDER.flatMap((state) => groups.get(state) ?? [])
}
