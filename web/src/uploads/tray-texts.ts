import { useFormats, useTexts } from '../texts/index.ts'
import { engine } from './engine.ts'

/** Title of the tray: state and transfer rate. */
export function useTrayWords(): { title: string; about: string } {
  const texts = useTexts('uploads')
  const formats = useFormats()
  const { queue, preparing, found } = engine
  const { counts, all, work, workDone } = queue.totals
  const failed = counts.failed + counts.lost
  const scanning = found > 0 && texts.scanned(found, formats.number(found))
  if (preparing > 0 && !queue.isBusy) return { title: texts.preparing, about: scanning || '' }
  if (queue.isBusy) {
    const percent = formats.number(Math.floor((100 * workDone) / Math.max(1, work)))
    const { bytesPerSecond, secondsLeft } = engine
    const about = [
      preparing > 0 && scanning,
      `${percent} %`,
      bytesPerSecond >= 1 && texts.perSecond(formats.size(bytesPerSecond)),
      secondsLeft !== undefined && bytesPerSecond >= 1 && texts.left(formats.duration(secondsLeft)),
    ]
    const title = texts.uploading(all, formats.number(counts.done), formats.number(all))
    return { title, about: about.filter(Boolean).join(' · ') }
  }
  if (counts.paused > 0) {
    return { title: texts.paused, about: texts.doneOf(formats.number(counts.done), formats.number(all)) }
  }
  const done = texts.uploaded(counts.done, formats.number(counts.done))
  if (failed === 0) return { title: done, about: '' }
  if (counts.failed === 0) return { title: texts.lostSome(failed, formats.number(failed)), about: '' }
  return { title: texts.failed(failed, formats.number(failed)), about: counts.done > 0 ? done : '' }
}
