// The address says what is open: #LECTURE/DESK, where DESK is an exercise's number, "photo" or "text".

/** {lecture, desk} of an address; what the course does not have gives way to what comes first. */
export function parseRoute(hash, course) {
  const [lecture, desk] = decodeURIComponent(hash.replace(/^#/, '')).split('/');
  const isExercise = id => course.exercises.some(exercise => exercise.id === id);
  const named = course.lectures.find(item => item.name === lecture);
  const wanted = desk === 'photo' || desk === 'text' || isExercise(desk) ? desk : undefined;
  const ofDesk = course.exercises.find(exercise => exercise.id === wanted)?.lecture;
  const known = named ?? course.lectures.find(item => item.name === ofDesk) ?? course.lectures[0];
  return { lecture: known.name, desk: wanted ?? firstExercise(known.name, course) };
}

/** The exercise that stands beside a lecture until the reader takes another one. */
function firstExercise(lecture, course) {
  return (course.exercises.find(exercise => exercise.lecture === lecture) ?? course.exercises[0]).id;
}

export const formatRoute = ({ lecture, desk }) => `#${lecture}/${desk}`;

/** What a link of a lecture leads to on this page: {lecture}, {exercise}, or null for anything else. */
export function inside(address, course) {
  const lecture = /\/notebooks\/([\w-]+)\.html$/.exec(address.pathname)?.[1];
  if (lecture && course.lectures.some(item => item.name === lecture)) return { lecture };
  const file = /\/(course\d_\w+\/exercises\/[\w.]+)\.html$/.exec(address.pathname)?.[1];
  const exercise = course.exercises.find(item => item.file === file);
  return exercise ? { exercise: exercise.id } : null;
}
