import './task-tray.css'
import { useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { cancelTask } from '../api/index.ts'
import { useShortcut } from '../commands/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton, Progress, useFailureToast, useToast } from '../ui/index.ts'
import { hasEnded, removeTask, type Task, useTasks } from './tasks.ts'
import { useUndoCopy } from './undo-copy.ts'
import { useUndoMove } from './undo-move.ts'
import { rememberUndo, undoLast } from './undo-stack.ts'

/** Progress of copies, moves and extractions, on every page. */
export function TaskTray() {
  const texts = useTexts('files')
  const tasks = useTasks()
  useEnds(tasks)
  useUndoKey()
  const running = tasks.filter((task) => !hasEnded(task))
  if (running.length === 0) return null
  return (
    <section className="task-tray card" aria-label={texts.tasks}>
      {running.map((task) => (
        <TaskRow key={task.id} task={task} />
      ))}
    </section>
  )
}

function TaskRow(props: { task: Task }) {
  const { task } = props
  const texts = useTexts('files')
  const formats = useFormats()
  const failed = useFailureToast()
  const { done = 0, total = 0 } = task.progress ?? {}
  const title = titles(texts)[task.operation](task.count, task.name)
  return (
    <div className="task-row">
      <span className="task-text">
        <span className="task-title" title={task.name}>
          {title}
        </span>
        <Progress value={total === 0 ? 0 : done / total} label={title} />
        <span className="muted">{texts.taskFiles(formats.number(done), formats.number(total))}</span>
      </span>
      <IconButton label={texts.stop} icon={X} onClick={() => void cancelTask(task.id).catch(failed)} />
    </div>
  )
}

/** Ctrl+Z undoes the last action of this tab. */
function useUndoKey(): void {
  const texts = useTexts('commands')
  const toast = useToast()
  useShortcut('undo', () => {
    if (!undoLast()) toast({ text: texts.nothingToUndo })
  })
}

type FileTexts = ReturnType<typeof useTexts<'files'>>

const titles = ({ copying, moving, extracting }: FileTexts) => ({
  copy: copying,
  move: moving,
  extract: extracting,
})

const endings = ({ copied, moved, extracted }: FileTexts) => ({
  copy: copied,
  move: moved,
  extract: extracted,
})

/** Reports the result of ended tasks and invalidates the affected folders. */
function useEnds(tasks: readonly Task[]): void {
  const texts = useTexts('files')
  const toast = useToast()
  const queries = useQueryClient()
  const undoMove = useUndoMove()
  const undoCopy = useUndoCopy()
  const [, go] = useLocation()
  useEffect(() => {
    for (const task of tasks.filter(hasEnded)) {
      removeTask(task.id)
      const { operation, count, name, from, to, moved, copied, progress } = task
      void queries.invalidateQueries({ queryKey: ['dir', from.libraryId] })
      void queries.invalidateQueries({ queryKey: ['dir', to.libraryId] })
      if (progress?.successful) {
        const text = endings(texts)[operation](count, name)
        const run = () => go(folderUrl(to.libraryId, to.path))
        toast({
          text,
          action: { label: texts.show, run },
          ...(moved && { undo: rememberUndo(() => undoMove(moved)) }),
          ...(copied && { undo: rememberUndo(() => undoCopy(copied)) }),
        })
      } else if (progress?.failed) toast({ text: texts.taskFailed(name, progress.failed_reason), bad: true })
      else toast({ text: texts.taskCanceled(name) })
    }
  }, [tasks, texts, toast, queries, undoMove, undoCopy, go])
}
