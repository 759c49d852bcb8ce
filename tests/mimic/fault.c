// SPDX-License-Identifier: GPL-2.0
/*
 * Faults that a test asks for, by /sys/kernel/debug/mimic/DEVICE/faults and .../event.
 * README.md explains the words.
 *
 * Owns each device's list of faults, which mimic_faults.lock protects. The other files
 * ask mimic_strike() or mimic_refuse() at each step that can go wrong.
 */
#include <linux/debugfs.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "mimic.h"

#define MAX_LINE	200
/* The longest stall of a CPU in the doorbell, in ms */
#define MAX_STALL	100U

static struct dentry *directory;

static const char * const step_names[] = {
	[MIMIC_SEND]		= "send",
	[MIMIC_SEND_INV]	= "send-inv",
	[MIMIC_WRITE]		= "write",
	[MIMIC_READ]		= "read",
	[MIMIC_REG_MR]		= "reg-mr",
	[MIMIC_LOCAL_INV]	= "local-inv",
	[MIMIC_RECV]		= "recv",
	[MIMIC_MAD]		= "mad",
	[MIMIC_REQ]		= "req",
	[MIMIC_REP]		= "rep",
	[MIMIC_RTU]		= "rtu",
	[MIMIC_DREQ]		= "dreq",
	[MIMIC_DREP]		= "drep",
	[MIMIC_CREATE_CQ]	= "create-cq",
	[MIMIC_CREATE_SRQ]	= "create-srq",
	[MIMIC_CREATE_QP]	= "create-qp",
	[MIMIC_MODIFY_QP]	= "modify-qp",
	[MIMIC_TO_ERR]		= "to-err",
	[MIMIC_DESTROY_QP]	= "destroy-qp",
	[MIMIC_ALLOC_MR]	= "alloc-mr",
	[MIMIC_DEREG_MR]	= "dereg-mr",
	[MIMIC_CONNECT]		= "connect",
	[MIMIC_ACCEPT]		= "accept",
};

static const char * const action_names[] = {
	[MIMIC_NO_FAULT]	= "-",
	[MIMIC_REFUSE]		= "refuse",
	[MIMIC_FAIL]		= "fail",
	[MIMIC_STALL]		= "stall",
	[MIMIC_DELAY]		= "delay",
	[MIMIC_LATE]		= "late",
	[MIMIC_LOSE]		= "lose",
	[MIMIC_RNR]		= "rnr",
	[MIMIC_REJECT]		= "reject",
	[MIMIC_NO_DATA]		= "no-data",
	[MIMIC_QP_FATAL]	= "qp-fatal",
	[MIMIC_SRQ_FATAL]	= "srq-fatal",
	[MIMIC_DEVICE_FATAL]	= "device-fatal",
	[MIMIC_PORT_DOWN]	= "port-down",
	[MIMIC_REMOVE]		= "remove",
};

/* Actions that are possible at steps other than a connection's work requests */
#define EVENTS	(BIT(MIMIC_SRQ_FATAL) | BIT(MIMIC_DEVICE_FATAL) | \
		 BIT(MIMIC_PORT_DOWN) | BIT(MIMIC_REMOVE))
#define VERB	(BIT(MIMIC_REFUSE) | BIT(MIMIC_DELAY) | EVENTS)
#define REP	(BIT(MIMIC_REJECT) | BIT(MIMIC_NO_DATA))
#define MESSAGE	(BIT(MIMIC_LOSE) | BIT(MIMIC_DELAY) | EVENTS)

static const u32 actions_of[MIMIC_STEPS] = {
	[MIMIC_RECV]		= BIT(MIMIC_REFUSE) | BIT(MIMIC_FAIL) |
				  BIT(MIMIC_LOSE),
	[MIMIC_MAD]		= BIT(MIMIC_REFUSE) | MESSAGE,
	[MIMIC_REQ]		= MESSAGE,
	[MIMIC_REP]		= MESSAGE | REP,
	[MIMIC_RTU]		= MESSAGE,
	[MIMIC_DREQ]		= MESSAGE,
	[MIMIC_DREP]		= MESSAGE,
	[MIMIC_CREATE_CQ]	= VERB,
	[MIMIC_CREATE_SRQ]	= VERB,
	[MIMIC_CREATE_QP]	= VERB,
	[MIMIC_MODIFY_QP]	= VERB,
	[MIMIC_TO_ERR]		= VERB,
	[MIMIC_DESTROY_QP]	= BIT(MIMIC_DELAY) | EVENTS,
	[MIMIC_ALLOC_MR]	= VERB,
	[MIMIC_DEREG_MR]	= VERB,
	[MIMIC_CONNECT]		= VERB,
	[MIMIC_ACCEPT]		= VERB,
};

/*
 * A work request's step has no entry in actions_of: all actions but REP's are possible.
 */
static bool is_possible(enum mimic_step step, enum mimic_action action)
{
	if (!actions_of[step])
		return !(REP & BIT(action));
	return actions_of[step] & BIT(action);
}

/* A dead device refuses all verbs but these. */
static bool takes_down(enum mimic_step step)
{
	return step == MIMIC_TO_ERR || step == MIMIC_DESTROY_QP ||
	       step == MIMIC_DEREG_MR;
}

/**
 * struct fault - a line that a test has written
 * @list: in mimic_faults.list
 * @step: where the fault strikes
 * @verdict: what the fault does
 * @after: how often the fault lets its step pass first
 * @times: how often the fault strikes; 0: any number
 * @chance: probability in a million; 0: certain
 * @random: state of the random numbers for @chance
 * @passed: how often the fault has let its step pass
 * @struck: how often the fault has struck
 */
struct fault {
	struct list_head	list;
	enum mimic_step		step;
	struct mimic_verdict	verdict;
	unsigned int		after;
	unsigned int		times;
	unsigned int		chance;
	struct rnd_state	random;
	unsigned int		passed;
	unsigned int		struck;
};

/* These actions happen when a WR is posted; all others when it is executed. */
static bool is_for_posting(enum mimic_action action)
{
	return action == MIMIC_REFUSE || action == MIMIC_STALL;
}

static bool strikes(struct fault *fault)
{
	if (fault->times && fault->struck == fault->times)
		return false;
	if (fault->chance &&
	    prandom_u32_state(&fault->random) % 1000000 >= fault->chance)
		return false;
	if (fault->passed < fault->after) {
		fault->passed++;
		return false;
	}
	fault->struck++;
	return true;
}

static void fault_raise(struct mimic_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device			= &dev->ib,
		.element.port_num	= 1,
		.event			= type,
	};

	ib_dispatch_event(&event);
}

/**
 * mimic_port - take the port up or down
 * @dev: the device
 * @up: the port goes up
 *
 * Context: any.
 */
void mimic_port(struct mimic_dev *dev, bool up)
{
	WRITE_ONCE(dev->port_down, !up);
	fault_raise(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/* SRQ_ERR for all shared receive queues that a QP uses */
static void all_srqs_fatal(struct mimic_dev *dev)
{
	struct mimic_srq *srq;
	struct mimic_qp *qp;
	unsigned long index;

	/*
	 * mimic_destroy_qp() waits for a grace period, so each QP and its queue stay.
	 */
	rcu_read_lock();
	xa_for_each(&mimic_qps, index, qp) {
		if (qp->dev != dev || !qp->ib.srq)
			continue;
		srq = to_mimic_srq(qp->ib.srq);
		WRITE_ONCE(srq->failed, true);
		queue_work(mimic_wq, &srq->event_work);
	}
	rcu_read_unlock();
}

/*
 * Kill the device until it is removed. Drivers clean up after a dead device by flushing
 * all QPs and refusing verbs, so mimic does the same.
 */
static void die(struct mimic_dev *dev)
{
	struct mimic_qp *qp;
	unsigned long index;

	WRITE_ONCE(dev->dead, true);
	/* mimic_destroy_qp() waits for a grace period, so each QP stays. */
	rcu_read_lock();
	xa_for_each(&mimic_qps, index, qp) {
		if (qp->dev != dev || READ_ONCE(qp->state) == IB_QPS_RESET)
			continue;
		WRITE_ONCE(qp->halted, false);
		mimic_fall(qp);
	}
	rcu_read_unlock();
	fault_raise(dev, IB_EVENT_DEVICE_FATAL);
}

/*
 * Carry out an action that leaves the step alone. Return: false for any other action.
 */
static bool happens(struct mimic_dev *dev, enum mimic_action action)
{
	switch (action) {
	case MIMIC_SRQ_FATAL:
		all_srqs_fatal(dev);
		return true;
	case MIMIC_DEVICE_FATAL:
		die(dev);
		return true;
	case MIMIC_PORT_DOWN:
		mimic_port(dev, false);
		return true;
	case MIMIC_REMOVE:
		mimic_remove(dev);
		return true;
	default:
		return false;
	}
}

/**
 * mimic_strike - ask whether a step goes wrong
 * @dev: the device
 * @step: the step
 * @posting: a WR is being posted, or a verb is called; else a WR is executed
 *
 * Actions that happen to the device as a whole happen here.
 *
 * Context: any with @posting; else process or softirq, without locks of a QP, unless
 *	@step is MIMIC_RECV.
 *
 * Return: the fault, or MIMIC_NO_FAULT if the step goes on.
 */
struct mimic_verdict mimic_strike(struct mimic_dev *dev, enum mimic_step step,
				  bool posting)
{
	struct mimic_faults *faults = &dev->faults;
	struct mimic_verdict verdict = { };
	struct fault *fault;
	unsigned long flags;

	if (likely(!READ_ONCE(faults->count)))
		return verdict;
	spin_lock_irqsave(&faults->lock, flags);
	list_for_each_entry(fault, &faults->list, list) {
		if (fault->step != step ||
		    is_for_posting(fault->verdict.action) != posting ||
		    !strikes(fault))
			continue;
		verdict = fault->verdict;
		break;
	}
	spin_unlock_irqrestore(&faults->lock, flags);
	if (happens(dev, verdict.action))
		verdict.action = MIMIC_NO_FAULT;
	return verdict;
}

/**
 * mimic_refuse - ask whether a verb fails; delay the verb if a fault says so
 * @dev: the device
 * @step: the verb
 *
 * Context: process, may sleep.
 *
 * Return: 0; -ENOMEM if a fault refuses; -EIO if the device is dead and the verb does
 *	not take something down.
 */
int mimic_refuse(struct mimic_dev *dev, enum mimic_step step)
{
	struct mimic_faults *faults = &dev->faults;
	unsigned int clears = READ_ONCE(faults->clears);
	struct mimic_verdict verdict;

	if (READ_ONCE(dev->dead))
		return takes_down(step) ? 0 : -EIO;
	if (mimic_strike(dev, step, true).action == MIMIC_REFUSE)
		return -ENOMEM;
	verdict = mimic_strike(dev, step, false);
	if (verdict.action == MIMIC_DELAY)
		wait_event_timeout(faults->cleared,
				   READ_ONCE(faults->clears) != clears,
				   msecs_to_jiffies(verdict.value));
	return 0;
}

static void clear(struct mimic_faults *faults)
{
	struct fault *fault, *next;

	spin_lock_irq(&faults->lock);
	list_for_each_entry_safe(fault, next, &faults->list, list) {
		list_del(&fault->list);
		kfree(fault);
	}
	WRITE_ONCE(faults->count, 0);
	WRITE_ONCE(faults->clears, faults->clears + 1);
	spin_unlock_irq(&faults->lock);
	wake_up_all(&faults->cleared);
}

/* Parse "KEY=NUMBER". */
static int parse_option(struct fault *fault, char *option, u64 *seed)
{
	static const char * const keys[] = {
		"after", "times", "chance", "status", "ms", "seed"
	};
	char *key = strsep(&option, "=");
	unsigned int n;
	int i, rc;

	i = match_string(keys, ARRAY_SIZE(keys), key);
	rc = option ? kstrtouint(option, 0, &n) : -EINVAL;
	if (i < 0 || rc) {
		pr_err("mimic: \"%s\" is no option with a number; there are: after times chance status ms seed\n",
		       key);
		return -EINVAL;
	}
	switch (i) {
	case 0:
		fault->after = n;
		break;
	case 1:
		fault->times = n;
		break;
	case 2:
		fault->chance = n;
		break;
	case 3:
	case 4:
		fault->verdict.value = n;
		break;
	case 5:
		*seed = n;
		break;
	}
	return 0;
}

/* Parse "STEP ACTION [KEY=NUMBER...]". */
static int parse(struct fault *fault, char *line)
{
	u64 seed = get_random_u32();
	char *word;
	int i, rc;

	word = strsep(&line, " ");
	i = match_string(step_names, ARRAY_SIZE(step_names), word);
	if (i < 0) {
		pr_err("mimic: no step \"%s\"\n", word);
		return -EINVAL;
	}
	fault->step = i;
	word = strsep(&line, " ");
	i = word ? match_string(action_names, ARRAY_SIZE(action_names), word) :
		   -EINVAL;
	if (i <= 0) {
		pr_err("mimic: no action \"%s\"\n", word ?: "");
		return -EINVAL;
	}
	if (!is_possible(fault->step, i)) {
		pr_err("mimic: no action \"%s\" for \"%s\"\n", word,
		       step_names[fault->step]);
		return -EINVAL;
	}
	fault->verdict.action = i;
	fault->times = 1;
	if (i == MIMIC_FAIL)
		fault->verdict.value = IB_WC_RETRY_EXC_ERR;
	else if (i == MIMIC_DELAY || i == MIMIC_LATE)
		fault->verdict.value = 100;
	else if (i == MIMIC_STALL)
		fault->verdict.value = 1;
	while ((word = strsep(&line, " "))) {
		rc = *word ? parse_option(fault, word, &seed) : 0;
		if (rc)
			return rc;
	}
	if (i == MIMIC_STALL && fault->verdict.value > MAX_STALL) {
		pr_err("mimic: a stall takes no more than %u ms\n", MAX_STALL);
		return -EINVAL;
	}
	if (i == MIMIC_FAIL && (!fault->verdict.value ||
				fault->verdict.value > IB_WC_GENERAL_ERR)) {
		pr_err("mimic: no status %u of a failed completion\n",
		       fault->verdict.value);
		return -EINVAL;
	}
	prandom_seed_state(&fault->random, seed);
	if (fault->chance)
		pr_info("mimic: %s %s by chance: seed=%llu\n",
			step_names[fault->step],
			action_names[fault->verdict.action], seed);
	return 0;
}

static int add(struct mimic_faults *faults, char *line)
{
	struct fault *fault;
	int rc;

	if (!strcmp(line, "clear")) {
		clear(faults);
		return 0;
	}
	fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	if (!fault)
		return -ENOMEM;
	rc = parse(fault, line);
	if (rc) {
		kfree(fault);
		return rc;
	}
	spin_lock_irq(&faults->lock);
	list_add_tail(&fault->list, &faults->list);
	WRITE_ONCE(faults->count, faults->count + 1);
	spin_unlock_irq(&faults->lock);
	return 0;
}

static int read_line(char *line, const char __user *buf, size_t len)
{
	if (len >= MAX_LINE)
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	strim(line);
	return 0;
}

static ssize_t faults_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	struct mimic_dev *dev = file_inode(file)->i_private;
	char line[MAX_LINE];
	int rc;

	rc = read_line(line, buf, len);
	if (!rc)
		rc = add(&dev->faults, line);
	return rc ?: len;
}

static int faults_show(struct seq_file *seq, void *unused)
{
	struct mimic_dev *dev = seq->private;
	struct fault *fault;

	spin_lock_irq(&dev->faults.lock);
	list_for_each_entry(fault, &dev->faults.list, list)
		seq_printf(seq, "%s %s struck=%u\n", step_names[fault->step],
			   action_names[fault->verdict.action], fault->struck);
	spin_unlock_irq(&dev->faults.lock);
	return 0;
}

static int faults_open(struct inode *inode, struct file *file)
{
	return single_open(file, faults_show, inode->i_private);
}

static const struct file_operations faults_fops = {
	.owner		= THIS_MODULE,
	.open		= faults_open,
	.read		= seq_read,
	.write		= faults_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* QP_FATAL for all QPs of the device that are in RTS */
static void all_qps_fatal(struct mimic_dev *dev)
{
	struct mimic_qp *qp;
	unsigned long index;

	/* mimic_destroy_qp() waits for a grace period, so each QP stays. */
	rcu_read_lock();
	xa_for_each(&mimic_qps, index, qp) {
		if (qp->dev != dev || READ_ONCE(qp->state) != IB_QPS_RTS)
			continue;
		WRITE_ONCE(qp->halted, true);
		mimic_qp_event(qp, IB_EVENT_QP_FATAL);
	}
	rcu_read_unlock();
}

static ssize_t event_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	struct mimic_dev *dev = file_inode(file)->i_private;
	char line[MAX_LINE];
	int rc, action;

	rc = read_line(line, buf, len);
	if (rc)
		return rc;
	if (!strcmp(line, "port-up")) {
		mimic_port(dev, true);
		return len;
	}
	action = match_string(action_names, ARRAY_SIZE(action_names), line);
	if (action == MIMIC_QP_FATAL) {
		all_qps_fatal(dev);
	} else if (action < 0 || !happens(dev, action)) {
		pr_err("mimic: no event \"%s\"; there are: qp-fatal srq-fatal device-fatal port-down port-up remove\n",
		       line);
		return -EINVAL;
	}
	return len;
}

static const struct file_operations event_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= event_write,
};

/**
 * mimic_faults_init - create a device's files in debugfs
 * @dev: the device, which is registered and so has its name
 *
 * Context: process, may sleep.
 */
void mimic_faults_init(struct mimic_dev *dev)
{
	struct mimic_faults *faults = &dev->faults;

	faults->dir = debugfs_create_dir(dev_name(&dev->ib.dev), directory);
	debugfs_create_file("faults", 0600, faults->dir, dev, &faults_fops);
	debugfs_create_file("event", 0200, faults->dir, dev, &event_fops);
}

/**
 * mimic_faults_exit - remove a device's files and faults
 * @dev: the device
 *
 * Context: process, may sleep.
 */
void mimic_faults_exit(struct mimic_dev *dev)
{
	debugfs_remove_recursive(dev->faults.dir);
	clear(&dev->faults);
}

/**
 * mimic_faults_setup - create the directory in debugfs
 *
 * Context: process, when the module is loaded.
 */
void mimic_faults_setup(void)
{
	directory = debugfs_create_dir("mimic", NULL);
}

/**
 * mimic_faults_cleanup - remove the directory in debugfs
 *
 * Context: process, when the module is unloaded.
 */
void mimic_faults_cleanup(void)
{
	debugfs_remove_recursive(directory);
}
