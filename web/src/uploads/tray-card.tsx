import { useQueryClient } from '@tanstack/react-query'
import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { useTexts } from '../texts/index.ts'
import { IconButton, Progress } from '../ui/index.ts'
import { engine } from './browser-engine.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { TrayActions } from './tray-actions.tsx'
import { TrayList } from './tray-list.tsx'
import { useTrayWords } from './tray-texts.ts'

const NARROW = '(max-width: 820px)'

/** The upload tray, and the conflict question before an upload. */
export default function TrayCard() {
  const version = useSyncExternalStore(engine.subscribe, engine.version)
  useFreshLists()
  const { queue, question, preparing } = engine
  return (
    <>
      {(queue.totals.all > 0 || preparing > 0) && <Card version={version} />}
      {question && <ConflictDialog question={question} />}
    </>
  )
}

function Card(props: { version: number }) {
  const texts = useTexts('uploads')
  const { title, about } = useTrayWords()
  const [open, setOpen] = useState(() => !matchMedia(NARROW).matches)
  const listId = useId()
  const { all, work, workDone, counts } = engine.queue.totals
  const { isBusy } = engine
  return (
    <section className="tray" aria-label={texts.uploads}>
      {/* Screen readers announce the total, not each file. */}
      <p className="visually-hidden" role="status">
        {isBusy ? texts.sending : title}
      </p>
      <header className="tray-head">
        <div className="tray-title">
          <h2>{title}</h2>
          {about && <p className="tray-about">{about}</p>}
        </div>
        <IconButton
          label={open ? texts.collapse : texts.expand}
          icon={open ? ChevronDown : ChevronUp}
          aria-expanded={open}
          aria-controls={listId}
          onClick={() => setOpen(!open)}
        />
        {!isBusy && <IconButton label={texts.closeTray} icon={X} onClick={() => engine.clear()} />}
      </header>
      {(isBusy || counts.paused > 0) && (
        <div className="tray-progress">
          <Progress value={work === 0 ? 0 : workDone / work} label={texts.progress} />
        </div>
      )}
      {engine.isCut && (
        <p className="tray-cut" role="status">
          {texts.cut}
        </p>
      )}
      {engine.isVolatile && (
        <p className="tray-cut" role="status">
          {texts.volatile}
        </p>
      )}
      <TrayActions />
      <div id={listId} hidden={!open}>
        {open && all > 0 && <TrayList version={props.version} />}
      </div>
    </section>
  )
}

/** Refetches the lists when everything is done. Until then live events do. */
function useFreshLists(): void {
  const queries = useQueryClient()
  const { isBusy } = engine
  const was = useRef(isBusy)
  useEffect(() => {
    if (was.current && !isBusy) {
      for (const key of ['dir', 'libraries', 'library', 'account', 'activities']) {
        void queries.invalidateQueries({ queryKey: [key] })
      }
    }
    was.current = isBusy
  }, [isBusy, queries])
}
