import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { useTexts } from '../texts/index.ts'
import { engine } from './browser-engine.ts'
import type { Upload, UploadState } from './queue.ts'
import { TrayRow } from './tray-row.tsx'

const ROW_PX = 56
/** Uploads that need attention come first, finished ones last. */
const ORDER: readonly UploadState[] = ['failed', 'lost', 'sending', 'waiting', 'paused', 'done']

/** Virtualized list of all uploads. */
export function TrayList(props: { version: number }) {
  const texts = useTexts('uploads')
  const scroller = useRef<HTMLDivElement>(null)
  const { version } = props
  // The queue is mutable; its version changes when it does.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const uploads = useMemo(() => ordered(engine.queue.uploads), [version])
  const rows = useVirtualizer({
    count: uploads.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
  })
  return (
    // Finished rows have nothing to focus, but the list must be scrollable by keyboard.
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
