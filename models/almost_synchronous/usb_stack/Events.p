// The stack of a serial bus with one port: a device that is plugged and unplugged, the port, the host controller, the hub
// driver that enumerates the device, the function driver that uses it, and a system that starts, stops, removes and powers
// it. Who plugs, closes the lid, ejects and reads does so for ever, in any order, each waiting only for
// the answer to what it did last. The system also writes a log, which answers nobody, so that inboxes have no bound.
//
// Events go from the side on the left to the side on the right; answers stand below what they answer.

enum tControl { ADDRESS, DESCRIBE, CONFIGURE }
enum tStatus { DONE, STALLED, ABORTED, NO_DEVICE }
enum tLogEntry { ARRIVED, REMOVED, BROKEN, EJECTED, RESTARTED, FAILED }

// Wiring.
event eMeet: machine;

// Hand and port.
event ePlug: machine;
event eUnplug: machine;
event eHandDone;

// Port and device.
type tBusPower = (port: machine, isOn: bool);
event eBusPower: tBusPower;
event eBusPowered;
event eBusReset;

// Port and hub. A change is reported once, until the hub has asked for the status.
event eConnectChange;
event eGetStatus;
event ePortStatus: bool;
event eResetPort;
event eResetDone: bool;

// Hub and its timer.
event eStartTimer;
event eCancelTimer;
event eTimeOut;
event eTimerStopped;

// Hub or driver, and host controller.
event eControl: (from: machine, kind: tControl);
event eControlDone: bool;

// Driver and host controller.
event eSubmitTransfer: machine;
event eCancelTransfer;
event eTransferDone: tStatus;
event eSuspendDevice: machine;
event eSuspendDone;
event eResumeDevice: machine;
event eResumeDone;
event eWoken;

// Host controller and device.
event eControlToken: tControl;
event eControlReply: bool;
event eBulkToken;
event eBulkReply: tStatus;
event eAbortBulk;
event eSuspendToken;
event eSuspendReply;
event eResumeToken;
event eResumeReply;
event eWakeSignal;

// Hub and plug-and-play manager.
event eDeviceArrived: machine;
event eDeviceGone;
event eDeviceRemoved;

// Plug-and-play manager and driver.
event eStartDevice: machine;
event eStarted: bool;
event eQueryStop;
event eQueryRemove;
event eQueryAnswer: bool;
event eCancelStop;
event eCancelRemove;
event eCancelDone;
event eStopDevice;
event eStopped;
event eSurpriseRemove;
event eSurpriseDone;
event eRemoveDevice;
event eRemoved;

// Power manager and driver.
event eSetPower: bool;
event ePowerDone;
event eIdle;
event eNeedPower;

// Application and driver. A read that is accepted is pending, and only such a read can be cancelled; a cancellation is
// answered, also when it comes too late.
event eRead: machine;
event ePending;
event eReadDone: tStatus;
event eCancelRead: machine;
event eCancelSeen;

// People and the system.
event eEject: machine;
event eRebalance: machine;
event eAdminDone;
event eLid: (from: machine, isClosed: bool);
event eLidDone;

// Log and disk.
event eLog: tLogEntry;
event eStore: tLogEntry;
