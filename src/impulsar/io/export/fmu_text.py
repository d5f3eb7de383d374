"""The functions of FMI 2.0 and 3.0 for co-simulation, in C over the interface of a frozen world.

Value reference 0 is time; then come inputs, parameters and outputs.
"""

EXPORTED = {"2.0": "fmi2*;", "3.0": "fmi3*;"}

COMMON = """#include "@n@.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { INPUTS = @N@_INPUTS, PARAMETERS = @N@_PARAMETERS, OUTPUTS = @N@_OUTPUTS - 1, STATES = @N@_STATES };

typedef struct { /* all that an instance can be brought back to */
  double state[STATES];
  double inputs[INPUTS + 1];
  double parameters[PARAMETERS + 1];
} kept;

typedef struct instance {
  @n@_model model;
  double inputs[INPUTS + 1];
  double parameters[PARAMETERS + 1];
  double outputs[OUTPUTS + 1];
  bool tuned; /* parameters were set and not yet given to the model */
  bool read;  /* outputs are of now */
  void (*tell)(struct instance *, int status, const char *message);
  void *logger, *environment;
  char *name;
} instance;

static int refuse(instance *c, const char *message) {
  if (c->logger) c->tell(c, ERROR, message);
  return ERROR;
}

static void begin(instance *c) {
  @n@_inputs inputs;
  @n@_parameters parameters;
  @n@_start(&c->model, &inputs);
  @n@_defaults(&parameters);
  memcpy(c->inputs, &inputs, INPUTS * sizeof(double));
  memcpy(c->parameters, &parameters, PARAMETERS * sizeof(double));
  c->tuned = c->read = false;
}

static instance *create(const char *name, const char *token) {
  instance *c;
  if (token == 0 || strcmp(token, "@token@") != 0) return 0;
  c = (instance *)calloc(1, sizeof *c);
  if (c == 0) return 0;
  c->name = (char *)malloc(strlen(name ? name : "") + 1);
  if (c->name == 0) return free(c), (instance *)0;
  strcpy(c->name, name ? name : "");
  begin(c);
  return c;
}

static void destroy(instance *c) {
  if (c == 0) return;
  free(c->name);
  free(c);
}

static int tune(instance *c) {
  int told;
  if (!c->tuned) return OK;
  told = @n@_tune(&c->model, (const @n@_parameters *)c->parameters);
  if (told != @N@_OK) return refuse(c, "a parameter is not finite, or a mass or coefficient is negative");
  c->tuned = c->read = false;
  return OK;
}

static int set_time(instance *c, double time) {
  double x[STATES];
  if (!(time - time == 0.0)) return refuse(c, "the start time is not finite");
  @n@_get(&c->model, x);
  if (x[@time@] == time) return OK;
  x[@time@] = time;
  c->read = false;
  return @n@_set(&c->model, x) == @N@_OK ? OK : ERROR;
}

static int get(instance *c, const unsigned *references, size_t count, double *values) {
  for (size_t k = 0; k < count; ++k) {
    unsigned at = references[k];
    if (at > INPUTS + PARAMETERS + OUTPUTS) return refuse(c, "no such variable");
    if (at > 0 && at <= INPUTS) {
      values[k] = c->inputs[at - 1];
      continue;
    }
    if (at > INPUTS && at <= INPUTS + PARAMETERS) {
      values[k] = c->parameters[at - 1 - INPUTS];
      continue;
    }
    if (tune(c) != OK) return ERROR;
    if (!c->read) @n@_read(&c->model, (@n@_outputs *)c->outputs);
    c->read = true;
    values[k] = c->outputs[at == 0 ? 0 : at - INPUTS - PARAMETERS];
  }
  return OK;
}

static int set(instance *c, const unsigned *references, size_t count, const double *values) {
  for (size_t k = 0; k < count; ++k) {
    unsigned at = references[k];
    if (at == 0 || at > INPUTS + PARAMETERS) return refuse(c, "this variable cannot be set");
    if (!(values[k] - values[k] == 0.0)) return refuse(c, "a value to be set is not finite");
    if (at <= INPUTS) {
      c->inputs[at - 1] = values[k];
    } else {
      c->parameters[at - 1 - INPUTS] = values[k];
      c->tuned = true;
    }
  }
  return OK;
}

static int do_step(instance *c, double time, double h) {
  double x[STATES], off;
  int told;
  if (tune(c) != OK) return ERROR;
  @n@_get(&c->model, x);
  off = time - x[@time@];
  if (!(off < 1e-3 * h && -off < 1e-3 * h)) return refuse(c, "the communication point is not where the model is");
  told = @n@_advance(&c->model, (const @n@_inputs *)c->inputs, h);
  c->read = false;
  if (told == @N@_OK) return OK;
  return refuse(c, told == @N@_OUT_OF_RANGE ? "the communication step is not a time > 0"
                                             : "the step cannot be taken; the state is as it was");
}

static int keep(instance *c, void **state) {
  kept *k = *state ? (kept *)*state : (kept *)malloc(sizeof *k);
  if (k == 0) return refuse(c, "no memory");
  if (tune(c) != OK) {
    if (*state == 0) free(k);
    return ERROR;
  }
  @n@_get(&c->model, k->state);
  memcpy(k->inputs, c->inputs, sizeof k->inputs);
  memcpy(k->parameters, c->parameters, sizeof k->parameters);
  *state = k;
  return OK;
}

static int bring_back(instance *c, const void *state) {
  const kept *k = (const kept *)state;
  if (k == 0) return refuse(c, "no state");
  memcpy(c->inputs, k->inputs, sizeof k->inputs);
  if (memcmp(c->parameters, k->parameters, PARAMETERS * sizeof(double)) != 0 || c->tuned) {
    memcpy(c->parameters, k->parameters, sizeof k->parameters);
    c->tuned = true;
    if (tune(c) != OK) return ERROR;
  }
  c->read = false;
  return @n@_set(&c->model, k->state) == @N@_OK ? OK : refuse(c, "the state is not finite");
}

static int release(void **state) {
  if (state) free(*state), *state = 0;
  return OK;
}

static int serialize(instance *c, const void *state, void *bytes, size_t size) {
  if (state == 0 || size < sizeof(kept)) return refuse(c, "no state, or no room for it");
  memcpy(bytes, state, sizeof(kept));
  return OK;
}

static int deserialize(instance *c, const void *bytes, size_t size, void **state) {
  if (size != sizeof(kept)) return refuse(c, "bytes of another model");
  if (*state == 0) *state = malloc(sizeof(kept));
  if (*state == 0) return refuse(c, "no memory");
  memcpy(*state, bytes, size);
  return OK;
}
"""

FMI2 = """typedef struct {
  void (*logger)(void *, const char *, int, const char *, const char *, ...);
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void (*finished)(void *, int);
  void *environment;
} callbacks;

static void tell(instance *c, int status, const char *message) {
  const callbacks *given = (const callbacks *)c->logger;
  if (given->logger) given->logger(given->environment, c->name, status, "logStatusError", "%s", message);
}

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }

void *fmi2Instantiate(const char *name, int kind, const char *token, const char *resources, const callbacks *given,
                      int visible, int logging) {
  instance *c = kind == 1 ? create(name, token) : 0;
  (void)resources, (void)visible, (void)logging;
  if (c) c->logger = (void *)given, c->tell = tell;
  return c;
}
void fmi2FreeInstance(void *c) { destroy((instance *)c); }
int fmi2SetDebugLogging(void *c, int on, size_t count, const char *const *categories) {
  return (void)c, (void)on, (void)count, (void)categories, OK;
}
int fmi2SetupExperiment(void *c, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
  return (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop, set_time((instance *)c, start);
}
int fmi2EnterInitializationMode(void *c) { return (void)c, OK; }
int fmi2ExitInitializationMode(void *c) { return tune((instance *)c); }
int fmi2Terminate(void *c) { return (void)c, OK; }
int fmi2Reset(void *c) { return begin((instance *)c), OK; }
int fmi2GetReal(void *c, const unsigned *r, size_t n, double *v) { return get((instance *)c, r, n, v); }
int fmi2SetReal(void *c, const unsigned *r, size_t n, const double *v) { return set((instance *)c, r, n, v); }
#define NONE_OF(type, kind)                                                                     \\
  int fmi2Get##kind(void *c, const unsigned *r, size_t n, type *v) {                            \\
    return (void)r, (void)v, n == 0 ? OK : refuse((instance *)c, "all variables are Real");     \\
  }                                                                                             \\
  int fmi2Set##kind(void *c, const unsigned *r, size_t n, const type *v) {                      \\
    return (void)r, (void)v, n == 0 ? OK : refuse((instance *)c, "all variables are Real");     \\
  }
NONE_OF(int, Integer)
NONE_OF(int, Boolean)
NONE_OF(const char *, String)
int fmi2GetFMUstate(void *c, void **state) { return keep((instance *)c, state); }
int fmi2SetFMUstate(void *c, void *state) { return bring_back((instance *)c, state); }
int fmi2FreeFMUstate(void *c, void **state) { return (void)c, release(state); }
int fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) {
  return (void)c, (void)state, *size = sizeof(kept), OK;
}
int fmi2SerializeFMUstate(void *c, void *state, char *bytes, size_t size) {
  return serialize((instance *)c, state, bytes, size);
}
int fmi2DeSerializeFMUstate(void *c, const char *bytes, size_t size, void **state) {
  return deserialize((instance *)c, bytes, size, state);
}
int fmi2DoStep(void *c, double time, double h, int never_back) {
  return (void)never_back, do_step((instance *)c, time, h);
}
#define MISSING(name) \\
  int fmi2##name(void *c) { return refuse((instance *)c, "fmi2" #name " is not there"); }
MISSING(GetDirectionalDerivative)
MISSING(SetRealInputDerivatives)
MISSING(GetRealOutputDerivatives)
MISSING(CancelStep)
MISSING(GetStatus)
MISSING(GetRealStatus)
MISSING(GetIntegerStatus)
MISSING(GetBooleanStatus)
MISSING(GetStringStatus)
"""

FMI3 = """typedef void (*log_message)(void *, int, const char *, const char *);

static void tell(instance *c, int status, const char *message) {
  ((log_message)c->logger)(c->environment, status, "logStatusError", message);
}

const char *fmi3GetVersion(void) { return "3.0"; }

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                  bool logging, bool events, bool early, const unsigned *intermediate, size_t count,
                                  void *environment, log_message log, void *update) {
  instance *c = create(name, token);
  (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)intermediate, (void)count;
  (void)update;
  if (c) c->logger = (void *)log, c->environment = environment, c->tell = tell;
  return c;
}
void *fmi3InstantiateModelExchange(void) { return 0; }
void *fmi3InstantiateScheduledExecution(void) { return 0; }
void fmi3FreeInstance(void *c) { destroy((instance *)c); }
int fmi3SetDebugLogging(void *c, bool on, size_t count, const char *const *categories) {
  return (void)c, (void)on, (void)count, (void)categories, OK;
}
int fmi3EnterInitializationMode(void *c, bool has_tolerance, double tolerance, double start, bool has_stop,
                                double stop) {
  return (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop, set_time((instance *)c, start);
}
int fmi3ExitInitializationMode(void *c) { return tune((instance *)c); }
int fmi3Terminate(void *c) { return (void)c, OK; }
int fmi3Reset(void *c) { return begin((instance *)c), OK; }
int fmi3GetFloat64(void *c, const unsigned *r, size_t n, double *v, size_t count) {
  return n == count ? get((instance *)c, r, n, v) : refuse((instance *)c, "all variables are scalars");
}
int fmi3SetFloat64(void *c, const unsigned *r, size_t n, const double *v, size_t count) {
  return n == count ? set((instance *)c, r, n, v) : refuse((instance *)c, "all variables are scalars");
}
#define NONE_OF(kind)                                                                          \\
  int fmi3Get##kind(void *c, const unsigned *r, size_t n) {                                    \\
    return (void)r, n == 0 ? OK : refuse((instance *)c, "all variables are Float64");          \\
  }                                                                                            \\
  int fmi3Set##kind(void *c, const unsigned *r, size_t n) {                                    \\
    return (void)r, n == 0 ? OK : refuse((instance *)c, "all variables are Float64");          \\
  }
NONE_OF(Float32)
NONE_OF(Int8)
NONE_OF(UInt8)
NONE_OF(Int16)
NONE_OF(UInt16)
NONE_OF(Int32)
NONE_OF(UInt32)
NONE_OF(Int64)
NONE_OF(UInt64)
NONE_OF(Boolean)
NONE_OF(String)
NONE_OF(Binary)
NONE_OF(Clock)
int fmi3GetFMUState(void *c, void **state) { return keep((instance *)c, state); }
int fmi3SetFMUState(void *c, void *state) { return bring_back((instance *)c, state); }
int fmi3FreeFMUState(void *c, void **state) { return (void)c, release(state); }
int fmi3SerializedFMUStateSize(void *c, void *state, size_t *size) {
  return (void)c, (void)state, *size = sizeof(kept), OK;
}
int fmi3SerializeFMUState(void *c, void *state, uint8_t *bytes, size_t size) {
  return serialize((instance *)c, state, bytes, size);
}
int fmi3DeserializeFMUState(void *c, const uint8_t *bytes, size_t size, void **state) {
  return deserialize((instance *)c, bytes, size, state);
}
int fmi3DoStep(void *c, double time, double h, bool never_back, bool *event, bool *terminate, bool *early,
               double *reached) {
  int told = do_step((instance *)c, time, h);
  (void)never_back;
  *event = *terminate = *early = false;
  *reached = told == OK ? time + h : time;
  return told;
}
#define MISSING(name) \\
  int fmi3##name(void *c) { return refuse((instance *)c, "fmi3" #name " is not there"); }
MISSING(EnterEventMode)
MISSING(EnterConfigurationMode)
MISSING(ExitConfigurationMode)
MISSING(EnterContinuousTimeMode)
MISSING(EnterStepMode)
MISSING(GetNumberOfVariableDependencies)
MISSING(GetVariableDependencies)
MISSING(GetDirectionalDerivative)
MISSING(GetAdjointDerivative)
MISSING(GetIntervalDecimal)
MISSING(GetIntervalFraction)
MISSING(GetShiftDecimal)
MISSING(GetShiftFraction)
MISSING(SetIntervalDecimal)
MISSING(SetIntervalFraction)
MISSING(SetShiftDecimal)
MISSING(SetShiftFraction)
MISSING(EvaluateDiscreteStates)
MISSING(UpdateDiscreteStates)
MISSING(CompletedIntegratorStep)
MISSING(SetTime)
MISSING(SetContinuousStates)
MISSING(GetContinuousStateDerivatives)
MISSING(GetEventIndicators)
MISSING(GetContinuousStates)
MISSING(GetNominalsOfContinuousStates)
MISSING(GetNumberOfEventIndicators)
MISSING(GetNumberOfContinuousStates)
MISSING(GetOutputDerivatives)
MISSING(ActivateModelPartition)
"""
