// Questions to the server: an answer, a refusal with its reasons, or no answer at all.
export class Refused extends Error {
  // `busy`: the server has too many requests at once; it says so in plain text, as uvicorn does.
  constructor(status, { error, suggestions = [], languages = [] }, busy) {
    super(error);
    Object.assign(this, { status, suggestions, languages, busy });
  }
}

export class Unreachable extends Error {}

// `parameters` are an object, or pairs where a name has several values.
export async function ask(path, parameters = {}, signal = undefined) {
  let response;
  try {
    response = await fetch(`${path}?${new URLSearchParams(parameters)}`, { signal });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Unreachable(error.message);
  }
  const answer = await response.json().catch(() => ({ error: `The server answered with status ${response.status}.`, plain: true }));
  if (!response.ok) throw new Refused(response.status, answer, response.status === 503 && answer.plain === true);
  return answer;
}
